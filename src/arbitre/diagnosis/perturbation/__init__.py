"""Plants faults in copies of gold documents, and records their locations.

`perturb` copies one document; `entry_faults` has the fault functions, `renaming` renames fields,
`noise` misreads texts.
"""

from arbitre.diagnosis.perturbation.perturb import RATES, Perturbed, perturb
from arbitre.diagnosis.perturbation.planted_fault import FaultKind, PlantedFault

__all__ = ["RATES", "FaultKind", "Perturbed", "PlantedFault", "perturb"]
