import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';

/** Updates search attributes. Does nothing on a cluster without slots for them; no function depends on them. */
export function upsertAttributes(input: { searchable?: false }, ...pairs: SearchAttributeUpdatePair[]): void {
  if (input.searchable !== false) upsertSearchAttributes(pairs);
}
