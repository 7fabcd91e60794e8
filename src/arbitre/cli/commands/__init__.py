"""The functions of the commands: one module for each command or group of commands, imported when it runs."""
