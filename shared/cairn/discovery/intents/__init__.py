"""What members seek and offer, and who they are: drawn, verified, reconciled. Not who fits whom."""
