"""The command line: reads arguments and prints results; everything else goes through `Memory`."""
