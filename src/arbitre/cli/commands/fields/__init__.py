"""Commands for single areas of application, such as entity recognition: one module per command."""
