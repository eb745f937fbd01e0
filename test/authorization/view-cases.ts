import { LIVE, type Row } from './row.js';

/** A route about one view: the caller's, and another person's private one. */
const onView = (route: string, body?: object): Row[] => {
  const send: Row['send'] = (s) => ({ params: { view_id: s.id }, ...(body ? { body } : {}) });
  return [
    {
      route,
      by: 'one’s own',
      subject: 'savedView',
      author: 'caller',
      kinds: ['own', 'unknown', 'garbage', 'respelt'],
      send,
    },
    {
      route,
      by: 'another’s',
      subject: 'savedView',
      author: 'colleague',
      kinds: ['own', 'foreign'],
      send,
      outcome: { own: 404, foreign: 404 },
      why: 'another person’s private view is none',
    },
  ];
};

/** Saved views; what a shared one shows to whom is in the tests of the feature. */
export const viewCases: Row[] = [
  { route: 'GET /api/saved-views', subject: 'savedView', author: 'caller', kinds: ['own'], send: () => ({}) },
  {
    route: 'POST /api/saved-views',
    subject: 'team',
    kinds: LIVE,
    send: (s) => ({ body: { name: 'Mine', entity_type: 'task', team_id: s.id, is_shared: true } }),
  },
  ...onView('GET /api/saved-views/:view_id'),
  ...onView('PATCH /api/saved-views/:view_id', { name: 'Another' }),
  ...onView('DELETE /api/saved-views/:view_id'),
  ...onView('POST /api/saved-views/:view_id/default'),
  ...onView('GET /api/saved-views/:view_id/results'),
  ...onView('GET /api/saved-views/:view_id/groups'),
];
