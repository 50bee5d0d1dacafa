"""The laptop cloud: the same CDK app as on AWS, on local processes. Nothing here is deployed."""
