/** Maximum number of breaks per check, so that a report stays readable; the first ones matter most. */
export const MAX_BREAKS = 20;

/** Meaning of each kind; docs/operate/audit.md describes what to do. */
export const BREAK_KINDS = {
  sequence_gap: 'Sequences are not 1, 2, 3 …: seals were removed or renumbered',
  link_broken: 'A seal does not name the hash of the one before: seals were removed, moved or inserted',
  entry_missing: 'A sealed entry is not there: it was deleted',
  entry_misplaced: 'A sealed entry belongs to another team than its chain',
  entry_changed: 'An entry does not have its sealed hash: it was edited, or another entry took its place',
  entry_unsealed: 'An entry is neither sealed nor pending: it was inserted past the product, or its seal was removed',
  entry_stuck: 'An entry stays pending although the chain was just sealed',
  entry_doubled: 'Two entries have the same id',
  seal_doubled: 'An entry is sealed twice',
  chain_forked: 'Two seals of a chain have the same sequence',
  pending_orphan: 'A pending row has no entry: the entry was deleted before it was sealed',
  pending_misplaced: 'A pending row names another chain than its entry: one of them was edited before it was sealed',
  pending_sealed: 'A sealed entry was marked as pending again',
  head_mismatch: 'The head of a chain is not its last seal: one of them was removed or changed',
  sealing_blocked: 'Pending entries cannot be sealed',
  guard_changed: 'A trigger, rule, policy or unique key that protects the log was removed, disabled or added',
  archive_unrecorded: 'The record of an archived month differs from the audit entry about it',
  archive_contradicted: 'The seals of an archived month are not those that were archived: entries or seals are missing',
  archive_changed: 'The file of an archived month is missing, damaged or not what was archived',
  checkpoint_altered: 'A line of the checkpoints is unreadable, or its signature does not fit',
  checkpoint_key_unknown: 'A line of the checkpoints is signed with a key that is not among the trusted ones',
  checkpoint_unlinked: 'A line of the checkpoints does not follow the line before it: lines were removed or moved',
  checkpoint_contradicted: 'A signed head is not on its chain: the tail was cut, the chain rewritten, or the database is older',
  witness_contradicted: 'The checkpoints do not start with what the witness kept: lines were removed or rewritten',
} as const;

export type BreakKind = keyof typeof BREAK_KINDS;

/** A defect of the log, with the first entry that shows it. */
export interface Break {
  kind: BreakKind;
  chain: string | null;
  sequence: number | null;
  audit_id: string | null;
  /** One sentence for the operator. */
  detail: string;
}
