"""The parts of the experiment: recording runs, the seed's rules, probing with towpath, the tables."""
