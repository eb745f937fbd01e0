import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { upsertSearchAttributes } from '@temporalio/workflow';

/**
 * Updates what an operator searches by. On a cluster that has no room for the attributes they are left out everywhere, and
 * nothing functional is lost (durability notes, 2).
 */
export function upsertAttributes(input: { searchable?: false }, ...pairs: SearchAttributeUpdatePair[]): void {
  if (input.searchable !== false) upsertSearchAttributes(pairs);
}
