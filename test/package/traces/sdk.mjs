// The SDK of OpenTelemetry without any instrumentation.
import { NodeSDK } from '@opentelemetry/sdk-node';

new NodeSDK({ instrumentations: [] }).start();
