"""The CDK app: what Cairn is made of in an AWS account, and on the laptop cloud."""
