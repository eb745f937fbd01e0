import type { TestApp } from '../support/app.js';

/** Subscribes teams, or people, to every event type, as a subscriber of another kind would: their events are written. */
export async function subscribe(app: TestApp, ...owners: ({ team_id: string } | { user_id: string })[]): Promise<void> {
  const { db } = app.services;
  const types = await db('event_types').pluck<string[]>('event_type');
  const rows = owners.map((owner) => ({
    owner_id: 'team_id' in owner ? owner.team_id : owner.user_id,
    kind: 'test',
    event_types: types,
  }));
  await db('event_subscriptions').insert(rows).onConflict(['owner_id', 'kind']).merge();
}
