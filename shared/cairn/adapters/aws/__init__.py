"""AWS adapters: objects in S3, messages in SQS, executions of Step Functions. boto3 is lazy."""
