import type { Row } from './row.js';
import type { Subject } from './subjects.js';

const LIVE: Row['kinds'] = ['own', 'unknown', 'garbage', 'respelt'];
const SESSIONS = '/api/ai-workspace/sessions';

/** A route about one session of the caller: theirs, and another person's. */
const onSession = (route: string, body?: object, more: Partial<Row> = {}): Row[] => {
  const send = (s: Subject) => ({ params: { session_id: s.id }, ...(body ? { body } : {}) });
  return [
    { route, by: 'one’s own', subject: 'agentSession', author: 'caller', kinds: LIVE, send, ...more },
    {
      route,
      by: 'another’s',
      subject: 'anothersAgentSession',
      kinds: ['own', 'foreign'],
      send,
      outcome: { own: 404, foreign: 404 },
      why: 'another person’s is none',
    },
  ];
};

const sessions: Row[] = [
  { route: `POST ${SESSIONS}`, subject: 'nothing', kinds: ['own'], send: () => ({ body: { title: 'Mine' } }) },
  { route: `GET ${SESSIONS}`, subject: 'agentSession', author: 'caller', kinds: ['own'], send: () => ({}) },
  ...onSession(`GET ${SESSIONS}/:session_id`),
  ...onSession(`PATCH ${SESSIONS}/:session_id`, { title: 'Another' }),
  ...onSession(`DELETE ${SESSIONS}/:session_id`),
];

const links: Row[] = [
  {
    route: `POST ${SESSIONS}/:session_id/link`,
    subject: 'linkableNote',
    author: 'caller',
    kinds: ['own', 'foreign', 'trashed', 'unknown', 'garbage', 'respelt'],
    send: (s) => ({ params: { session_id: s.session_id as string }, body: { item_type: 'note', item_id: s.id } }),
  },
  {
    route: `DELETE ${SESSIONS}/:session_id/link/:item_type/:item_id`,
    subject: 'linkedNote',
    author: 'caller',
    kinds: LIVE,
    send: (s) => ({ params: { session_id: s.session_id as string, item_type: 'note', item_id: s.id } }),
    why: 'removing a link takes away only, so it needs no role',
  },
];

const inBody = (s: Subject) => ({ body: { session_id: s.id, message: 'summarise' } });

const chat: Row[] = [
  {
    route: 'POST /api/ai-workspace/chat',
    by: 'one’s own',
    subject: 'agentSession',
    author: 'caller',
    kinds: LIVE,
    send: inBody,
    outcome: { own: 503 },
    why: 'no worker runs here, so that nothing is stored',
  },
  {
    route: 'POST /api/ai-workspace/chat',
    by: 'another’s',
    subject: 'anothersAgentSession',
    kinds: ['own', 'foreign'],
    send: inBody,
    outcome: { own: 404, foreign: 404 },
    why: 'another person’s is none',
  },
  ...onSession(`POST ${SESSIONS}/:session_id/stop`),
];

const PLANS = '/api/ai-workspace/agent';

/** A route about one plan of the caller: theirs, and another person's. */
const onPlan = (route: string, subject: 'agentPlan' | 'appliedPlan', send: Row['send'], more: Partial<Row> = {}): Row[] => [
  { route, by: 'one’s own', subject, author: 'caller', kinds: LIVE, send, ...more },
  {
    route,
    by: 'another’s',
    subject: 'anothersAgentPlan',
    kinds: ['own', 'foreign'],
    send,
    outcome: { own: 404, foreign: 404 },
    why: 'another person’s is none',
  },
];
const named = (s: Subject) => ({ params: { action_id: s.id } });
const decided = (s: Subject) => ({ body: { session_id: s.session_id as string, action_id: s.id } });

const plans: Row[] = [
  {
    route: `GET ${PLANS}/pending`,
    subject: 'teamPlan',
    kinds: ['own', 'foreign'],
    send: () => ({}),
    list: true,
    lowest: 'member',
  },
  ...onPlan(`GET ${PLANS}/plans/:action_id`, 'agentPlan', named, { lowest: 'guest', why: 'its texts come from the team' }),
  ...onPlan(`POST ${PLANS}/confirm`, 'agentPlan', decided),
  ...onPlan('POST /api/ai-workspace/actions/confirm', 'agentPlan', decided),
  ...onPlan(
    `POST ${PLANS}/plans/:action_id/edit`,
    'agentPlan',
    (s) => ({ ...named(s), body: { plan_hash: 'sha256:other', changes: [{ index: 0, params: {} }] } }),
    {
      kinds: ['own'],
      reference: { own: 409 },
      why: 'it names another text',
    },
  ),
  ...onPlan(`POST ${PLANS}/plans/:action_id/undo`, 'appliedPlan', named),
];

/** Sessions with the agent, their links and the chat. */
export const agentCases: Row[] = [...plans, ...sessions, ...links, ...chat];
