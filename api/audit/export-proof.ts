import { type KeyObject, sign } from 'node:crypto';
import { fieldForm } from './chain.js';
import { deriveKeyId } from './signing-keys.js';

/** Filters of an export, in the order in which they are signed. Times are compared as text. */
export const EXPORT_FILTERS = [
  'team_id',
  'user_id',
  'feature',
  'action',
  'severity',
  'from_time',
  'to_time',
  'ip_address',
  'entity_type',
  'entity_id',
  'correlation_id',
] as const;
export type ExportFilters = Partial<Record<(typeof EXPORT_FILTERS)[number], string | undefined>>;

/** What an export says about the chain of one team. */
export interface ExportedChain {
  team_id: string;
  /** Lowest sequence among the team's exported entries; null without any. */
  first_sequence: number | null;
  /** Sequence and hash (hexadecimal) of the chain's last entry when the export was made; later entries are not in the export. */
  last_sequence: number;
  head_hash: string;
}

/** The signed part of an export, without its entries. */
export interface ExportHead {
  format: string;
  /** ISO 8601, UTC. */
  exported_at: string;
  /** Entry that records the export. */
  audit_id: string;
  record_count: number;
  /** Those that were applied. */
  filters: ExportFilters;
  /** By `team_id`. */
  chain: ExportedChain[];
}

export interface ExportProof {
  /** `deriveKeyId` the signing key. */
  key_id: string;
  /** Ed25519 over `exportForm`, base64. */
  signature: string;
}

/** First signed byte: neither an entry of a chain nor another layout. */
const EXPORT_LAYOUT = 0x02;
const HASH_BYTES = 32;

/** 8 bytes, unsigned, big-endian. */
function numberForm(value: number): Buffer {
  const form = Buffer.allocUnsafe(8);
  form.writeBigUInt64BE(BigInt(value));
  return form;
}

/**
 * The signed bytes of an export. A text or null has the form of a hashed field (chain.ts); a number has 8 bytes, unsigned, big-endian.
 *
 *     0x02, this layout
 *     the texts format, exported_at, audit_id
 *     each of EXPORT_FILTERS in its order: the text, or null where it was not applied
 *     the number of chains; of each chain its team_id (text), first_sequence (number, 0 for null), last_sequence (number),
 *       head_hash (32 bytes)
 *     record_count (number), then the entry_hash of each entry in the order of `data` (32 bytes each)
 */
export function exportForm(head: ExportHead, entryHashes: readonly Buffer[]): Buffer {
  const texts = [head.format, head.exported_at, head.audit_id];
  return Buffer.concat([
    Buffer.of(EXPORT_LAYOUT),
    ...texts.map(fieldForm),
    ...EXPORT_FILTERS.map((name) => fieldForm(head.filters[name] ?? null)),
    numberForm(head.chain.length),
    ...head.chain.flatMap(({ team_id, first_sequence, last_sequence, head_hash }) => [
      fieldForm(team_id),
      numberForm(first_sequence ?? 0),
      numberForm(last_sequence),
      Buffer.from(head_hash, 'hex').subarray(0, HASH_BYTES),
    ]),
    numberForm(head.record_count),
    ...entryHashes,
  ]);
}

/** Signs an export, so that one with filters, which has gaps, can be verified too. */
export const signExport = (key: KeyObject, head: ExportHead, entryHashes: readonly Buffer[]): ExportProof => ({
  key_id: deriveKeyId(key),
  signature: sign(null, exportForm(head, entryHashes), key).toString('base64'),
});
