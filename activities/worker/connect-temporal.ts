import type { NativeConnectionOptions } from '@temporalio/worker';
import type { Config } from '../../api/platform/config.js';

/** Connection options of client and workers: plain, TLS, client certificate, API key. */
export function connectionOptions(config: Config): NativeConnectionOptions {
  const { TEMPORAL_TLS_CA: ca, TEMPORAL_TLS_CERT: crt, TEMPORAL_TLS_KEY: key, TEMPORAL_TLS_SERVER_NAME: name } = config;
  const tls = {
    ...(ca && { serverRootCACertificate: Buffer.from(ca) }),
    ...(crt && key && { clientCertPair: { crt: Buffer.from(crt), key: Buffer.from(key) } }),
    ...(name && { serverNameOverride: name }),
  };
  return {
    address: config.TEMPORAL_ADDRESS,
    grpcCompression: { codec: 'none' },
    tls: config.TEMPORAL_TLS === 'on' ? tls : false,
    ...(config.TEMPORAL_API_KEY && { apiKey: config.TEMPORAL_API_KEY }),
  };
}
