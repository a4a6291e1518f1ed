"""The network and its loss; knows nothing of devices."""
