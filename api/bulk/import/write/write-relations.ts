import { notFound } from '../../../platform/errors.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { createRelation } from '../../../work/relations/create-relation.js';
import type { Row, Write } from './batch.js';
import { knownRecords } from './known-ids.js';
import { writeOneByOne } from './one-by-one.js';
import { ITEM_KINDS } from './refs.js';
import { conflict } from '../../../platform/errors.js';

/** Writes relations. Both ends must be items of the team. The same relation in other words counts as the same. */
export const writeRelations: Write = async (batch, rows) => {
  const { refs, result, isForeign, on_conflict } = batch;
  const typed = rows as unknown as Row<'relation'>[];
  await refs.load(
    ITEM_KINDS,
    typed.flatMap(({ record }) => [record.source_id, record.target_id]),
  );
  const getEnds = ({ record }: Row<'relation'>) =>
    [record.source_id, record.target_id].map((ref) => refs.getId(ITEM_KINDS, ref)) as [string, string];
  const places = await findPlaces(batch.ctx, [...new Set(typed.flatMap(getEnds))]);
  const isHere = (id: string): boolean => places.get(id)?.team_id === batch.team_id;
  // An export of another product names issues that it does not hold.
  const complete = typed.filter((row) => {
    if (!isForeign || getEnds(row).every(isHere)) return true;
    result.skipped(row as never, { id: '' });
    result.noted(row, 'A related issue is neither in the file nor in the team, or it is in the trash');
    return false;
  });
  return writeOneByOne(batch, complete as never, {
    kind: 'relation',
    name: 'relation',
    getRef: ({ relation_id }) => relation_id,
    getType: () => 'relation',
    find: (ids) => knownRecords(batch.ctx, 'relation', batch.team_id, ids),
    async create(ctx, row, id) {
      const [source_id, target_id] = getEnds(row);
      if (!isHere(source_id)) throw notFound('Source');
      if (!isHere(target_id)) throw notFound('Target');
      const { created, relation } = await createRelation(
        ctx,
        { source_id, target_id, relation_type: row.record.relation_type },
        id,
      );
      if (!created && on_conflict === 'error' && !row.shared) throw conflict('The items are related in this way already');
      return { id: relation.relation_id, isNew: created };
    },
    update: () => Promise.resolve(false),
  });
};
