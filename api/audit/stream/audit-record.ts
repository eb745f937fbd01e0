import { type OtlpAttributes, toAttributes, toNanos } from '../../platform/telemetry/otlp.js';
import { HASHED_FIELDS, type StoredEntry } from '../chain.js';

/** An entry with its seal and the head of its chain when it was read. Hashes are hexadecimal; the fields of an archived entry are null. */
export interface StreamedEntry extends StoredEntry {
  chain: string;
  sequence: number;
  prev_hash: string;
  entry_hash: string;
  head_sequence: number;
  head_hash: string;
}

/** Severities of OpenTelemetry: INFO, INFO2, WARN, ERROR. */
const SEVERITIES: Record<string, number> = { LOW: 9, MEDIUM: 10, HIGH: 13, CRITICAL: 17 };

/** The line that stands for an entry, also in an archive: what is hashed, its seal, and the head of its chain. */
const buildBody = (entry: StreamedEntry): string => {
  const { chain, sequence, prev_hash, entry_hash, head_sequence, head_hash } = entry;
  const fields = entry.audit_id === null ? {} : Object.fromEntries(HASHED_FIELDS.map((field) => [field, entry[field]]));
  return JSON.stringify({ chain, sequence, prev_hash, entry_hash, head_sequence, head_hash, ...fields });
};

/** Returns an entry as a log record of OTLP/JSON. `assent.chain` and `assent.sequence` together are its key: a repeat has the same. */
export function buildRecord(entry: StreamedEntry, now: number): object {
  const { chain, sequence, entry_hash, severity, timestamp, correlation_id } = entry;
  const attributes: OtlpAttributes = {
    'assent.chain': chain,
    'assent.sequence': sequence,
    'assent.entry_hash': entry_hash,
    'assent.head_sequence': entry.head_sequence,
    'assent.head_hash': entry.head_hash,
    'assent.feature': entry.feature ?? undefined,
    'assent.action': entry.action ?? undefined,
    'assent.outcome': entry.outcome ?? undefined,
  };
  return {
    timeUnixNano: toNanos(timestamp === null ? now : Date.parse(timestamp)),
    observedTimeUnixNano: toNanos(now),
    severityNumber: SEVERITIES[severity ?? ''] ?? 9,
    ...(severity !== null && { severityText: severity }),
    eventName: 'assent.audit',
    body: { stringValue: buildBody(entry) },
    attributes: toAttributes(attributes),
    // The correlation id is the trace id (docs/adr/0024).
    ...(correlation_id !== null && { traceId: correlation_id.replaceAll('-', '') }),
  };
}
