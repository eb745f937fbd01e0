import { type Row, type Sent, TRASHABLE } from './row.js';
import type { Subject } from './subjects.js';

const PATH = '/api/automations/:automation_id/hook';
const byPath = (s: Subject): Sent => ({ params: { automation_id: s.id } });

/** The address of an automation: who calls it needs nothing else, and who makes it may change the automation. */
export const hookCases: Row[] = [
  {
    route: 'POST /api/hooks/:token',
    subject: 'hook',
    kinds: ['own', 'trashed', 'unknown', 'garbage'],
    send: (s) => ({ params: { token: s.id }, body: {} }),
    public: { own: 202, trashed: 404, unknown: 404, garbage: 404 },
  },
  { route: `GET ${PATH}`, subject: 'hook', kinds: TRASHABLE, send: byPath },
  ...([`POST ${PATH}`, `DELETE ${PATH}`] as const).flatMap((route): Row[] => {
    const send = (s: Subject): Sent => ({ ...byPath(s), ...(route.startsWith('POST') && { body: {} }) });
    return [
      { route, by: 'one’s own', subject: 'hook', author: 'caller', kinds: TRASHABLE, send },
      {
        route,
        by: 'another’s',
        subject: 'hook',
        author: 'colleague',
        kinds: TRASHABLE,
        send,
        lowest: 'manager',
        why: 'another person’s automation needs a manager',
      },
    ];
  }),
];
