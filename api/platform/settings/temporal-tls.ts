import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Settings of the connection to Temporal; certificates and keys are PEM text. */
export interface TemporalTls {
  TEMPORAL_TLS: 'on' | 'off';
  TEMPORAL_TLS_CA?: string | undefined;
  TEMPORAL_TLS_CERT?: string | undefined;
  TEMPORAL_TLS_KEY?: string | undefined;
  TEMPORAL_TLS_SERVER_NAME?: string | undefined;
  TEMPORAL_API_KEY?: string | undefined;
}

/** Settings that are meaningless, or leak a secret, without TLS. */
const ONLY_WITH_TLS = [
  'TEMPORAL_TLS_CA',
  'TEMPORAL_TLS_CERT',
  'TEMPORAL_TLS_KEY',
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_API_KEY',
] as const;

const reads = (read: () => unknown): boolean => {
  try {
    read();
    return true;
  } catch {
    return false;
  }
};

function pairProblem(certificate: string, key: string): string | undefined {
  if (!reads(() => new X509Certificate(certificate))) return 'TEMPORAL_TLS_CERT: holds no certificate (PEM)';
  if (!reads(() => createPrivateKey(key))) return 'TEMPORAL_TLS_KEY: holds no private key (PEM, without a passphrase)';
  if (new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) return undefined;
  return 'TEMPORAL_TLS_KEY: is not the key of the certificate in TEMPORAL_TLS_CERT';
}

/** Returns the problems of the TLS settings, one per line: an incomplete configuration would connect in clear text or never. */
export function temporalTlsProblems(given: TemporalTls): string[] {
  const { TEMPORAL_TLS_CA: ca, TEMPORAL_TLS_CERT: certificate, TEMPORAL_TLS_KEY: key } = given;
  const problems: (string | undefined | false)[] = [];
  if (given.TEMPORAL_TLS !== 'on') {
    const idle = ONLY_WITH_TLS.filter((name) => given[name] !== undefined);
    problems.push(...idle.map((name) => `${name}: used only with TEMPORAL_TLS=on, which is not set`));
  }
  problems.push(
    certificate !== undefined && key === undefined && 'TEMPORAL_TLS_KEY: needed with TEMPORAL_TLS_CERT',
    key !== undefined && certificate === undefined && 'TEMPORAL_TLS_CERT: needed with TEMPORAL_TLS_KEY',
    ca !== undefined && !reads(() => new X509Certificate(ca)) && 'TEMPORAL_TLS_CA: holds no certificate (PEM)',
    certificate !== undefined && key !== undefined && pairProblem(certificate, key),
  );
  return problems.filter((problem) => typeof problem === 'string');
}
