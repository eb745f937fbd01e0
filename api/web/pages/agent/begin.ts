import { z } from 'zod';
import { deleteAgentSession } from '../../../agent/sessions/change-session.js';
import { createAgentSession } from '../../../agent/sessions/create-session.js';
import { openSession } from '../../../agent/sessions/link-item.js';
import { listAgentSessions } from '../../../agent/sessions/read-session.js';
import { CreateSession } from '../../../agent/sessions/schema.js';
import { sendMessage } from '../../../agent/turns/conversation.js';
import type { User } from '../../../identity/auth/schema.js';
import { isAllowed, type Seat } from '../../../platform/access/access.js';
import type { Context } from '../../../platform/context.js';
import { newId } from '../../../platform/ids.js';
import { listProjects } from '../../../work/projects/list-projects.js';
import type { ProjectRecord } from '../../../work/projects/schema.js';
import { listNextTasks } from '../../../work/tasks/read/list-next-tasks.js';
import { type FormError, page, type Page, requireUser, type View } from '../../page.js';
import type { Fields } from '../../server/read-form.js';
import { buildPath, Message, Query, WAIT_MS } from './chat.js';
import { exampleSentences, FEW } from './examples.js';

/** A first message, and the project that it is about; without one it is about what the message names. */
const FirstMessage = Message.extend({ project_id: z.union([z.literal('').transform(() => undefined), z.uuid()]).optional() });

/** Projects that the first page offers. */
const MAX_PROJECTS = 200;

/** The sessions, and a form that begins one, about the project that one comes from. */
async function showSessions(
  ctx: Context,
  me: User,
  { q: message = '', project }: { q?: string; project?: string | undefined } = {},
  rejected?: { problem: FormError; given: Fields },
): Promise<View> {
  const [sessions, texts, { tasks }] = await Promise.all([
    listAgentSessions(ctx),
    listProjects(ctx, { limit: MAX_PROJECTS, offset: 0 }),
    listNextTasks(ctx, FEW),
  ]);
  const teams = new Set(me.teams.filter(({ role }) => isAllowed('agent.link', role as Seat)).map(({ team_id }) => team_id));
  const projects = texts
    .map((text) => JSON.parse(text) as ProjectRecord)
    .filter(({ status, team_id }) => status === 'active' && teams.has(team_id));
  const from = projects.find(({ project_id }) => project_id === project);
  // Examples name a project and tasks that the person knows.
  const first = from ?? projects.find(({ name }) => name === tasks[0]?.project_name) ?? projects[0];
  const given = rejected?.given ?? { message, project_id: from?.project_id };
  const kinds = ctx.config.AI_PROVIDER === 'rules' ? await exampleSentences(ctx, me, first, tasks) : [];
  const data = { sessions, projects, given, kinds, problem: rejected?.problem, messageId: newId() };
  return { view: 'agent/sessions', title: 'Agent', data };
}

/** Creates a session about a project and sends its first message. Nothing is left of one that is refused. */
async function startSession(ctx: Context, { project_id, message, message_id }: z.output<typeof FirstMessage>): Promise<string> {
  const about = project_id === undefined ? undefined : ({ item_type: 'project', item_id: project_id } as const);
  const session_id = await openSession(ctx, {}, about);
  try {
    await sendMessage(ctx, { session_id, message }, message_id, WAIT_MS);
  } catch (error) {
    await deleteAgentSession(ctx, session_id);
    throw error;
  }
  return session_id;
}

/** The sessions of the agent, and how one begins. */
export const beginPages: Page[] = [
  page({
    method: 'get',
    path: '/app/agent',
    access: 'agent.session',
    query: Query.extend({ project: z.uuid().optional().catch(undefined) }),
    handle: ({ ctx, me, query }) => showSessions(ctx, requireUser({ me }), query),
  }),
  page({
    method: 'post',
    path: '/app/agent/start',
    access: 'agent.session',
    limit: 'ai_chat',
    form: FirstMessage,
    async handle({ ctx, form }) {
      return { to: `${buildPath(await startSession(ctx, form))}#last` };
    },
    onError: ({ ctx, me, form }, problem) => showSessions(ctx, requireUser({ me }), {}, { problem, given: form }),
  }),
  page({
    method: 'post',
    path: '/app/agent',
    access: 'agent.session',
    limit: 'ai_session_create',
    form: CreateSession,
    async handle({ ctx }) {
      return { to: buildPath((await createAgentSession(ctx, {})).session_id) };
    },
    onError: (_visit, { message }) => Promise.resolve({ to: '/app/agent', notice: { kind: 'bad', text: message } }),
  }),
];
