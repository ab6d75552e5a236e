"""Cause trees: why a run had to fail, as minimal contradictions, and the conditions that led there, level by level.

(Yi, Yang, Guo, Wang, Liu and Zhao, *Explaining Software Failures by Cascade Fault Localization*, sections 3 and 4.)
"""
