import { FORGE_EVENTS, FORGE_FAMILIES, type ForgeEventType, triggersOf } from '../../core/events/forge-events.js';
import { EVENT_TYPES, type EventType } from '../../core/events/event-types.js';

/** A valid `trigger_type` of an automation. */
export interface Trigger {
  key: string;
  label: string;
  /** False while no feature sends the event yet; saving such an automation is rejected. */
  available: boolean;
  /** Example of `event` for conditions and templates. */
  sample_payload: Record<string, unknown>;
}

const TASK = {
  task_id: '0197a000-0000-7000-8000-000000000001',
  title: 'Sign-in fails on Safari',
  project_id: '0197a000-0000-7000-8000-000000000002',
  team_id: '0197a000-0000-7000-8000-000000000003',
  description: null,
  assigned_to: null,
  status: 'todo',
  priority: 'high',
  due_date: '2026-12-01',
  tags: ['bug'],
  version: 1,
};
const PROJECT = { project_id: TASK.project_id, name: 'Apollo', team_id: TASK.team_id, status: 'active' };
const COMMENT = { comment_id: '0197a000-0000-7000-8000-000000000004', task_id: TASK.task_id, content: 'Seen again today' };
const NOTE = {
  note_id: '0197a000-0000-7000-8000-000000000006',
  title: 'What we decided on Monday',
  team_id: TASK.team_id,
  project_id: TASK.project_id,
  kind: 'note',
};
const RELATION = {
  relation_id: '0197a000-0000-7000-8000-000000000007',
  source_id: TASK.task_id,
  target_id: NOTE.note_id,
  relation_type: 'related_to',
};
const PLAN = {
  action_id: '0197a000-0000-7000-8000-000000000008',
  session_id: '0197a000-0000-7000-8000-000000000009',
  source: 'overnight_triage',
  risk: 'low',
  status: 'staged',
  summary: '2 comments',
  team_id: TASK.team_id,
  project_id: TASK.project_id,
  actions: 2,
};
const CYCLE = {
  cycle_id: '0197a000-0000-7000-8000-000000000010',
  name: 'Cycle 12',
  goal: 'Sign-in works on every browser',
  team_id: TASK.team_id,
  project_id: TASK.project_id,
  number: 12,
  start_date: '2026-11-09',
  end_date: '2026-11-20',
  status: 'active',
  auto_complete: true,
  task_count: 14,
  done_count: 0,
  snapshot: null,
};
const FIGURES = { committed: 12, added: 2, completed: 9, carried_over: 5, points: { committed: 40, completed: 31 }, days: [] };
const JOB = {
  job_id: '0197a000-0000-7000-8000-000000000011',
  team_id: TASK.team_id,
  runner_id: '0197a000-0000-7000-8000-000000000012',
  runner_name: 'build-1',
  run_id: null,
  status: 'failed',
  labels: ['linux'],
  exit_code: 2,
  error: null,
};
const CASCADE = '0197a000-0000-7000-8000-000000000014';
const PERSON = '0197a000-0000-7000-8000-000000000005';

/** Fields of every event. */
const base = (type: string) => ({
  type,
  occurred_at: '2026-11-20T17:51:02.123Z',
  team_id: TASK.team_id,
  project_id: TASK.project_id,
  actor_id: PERSON,
});
/** Builds the trigger of an event type: of the same name, or of the given type. */
function sampled(key: EventType, label: string, payload: Record<string, unknown>): Trigger;
function sampled(key: string, label: string, payload: Record<string, unknown>, type: EventType): Trigger;
function sampled(key: string, label: string, payload: Record<string, unknown>, type: string = key): Trigger {
  return started(key, label, { ...base(type), ...payload });
}
/** Builds a trigger with a sample event. */
const started = (key: string, label: string, sample_payload: Record<string, unknown>): Trigger => ({
  key,
  label,
  available: true,
  sample_payload,
});

const changed = (field: string, from: unknown, to: unknown) => ({ changes: { [field]: { from, to } } });
const taskChanged = (field: string, from: unknown, to: unknown) => ({
  task: { ...TASK, [field]: to },
  ...changed(field, from, to),
});

const WORK_TRIGGERS: readonly Trigger[] = [
  sampled('task.created', 'A task is created', { task: TASK, changes: {} }),
  sampled('task.updated', 'A task is changed in any way', taskChanged('title', 'Sign-in fails', TASK.title)),
  sampled('task.status_changed', 'The status of a task changes', taskChanged('status', 'todo', 'in_progress'), 'task.updated'),
  sampled('task.assigned', 'A task is assigned', taskChanged('assigned_to', null, PERSON), 'task.updated'),
  sampled('task.completed', 'A task is completed', taskChanged('status', 'in_review', 'done'), 'task.updated'),
  sampled('task.deleted', 'A task is moved to the trash', { task: TASK, cascade_id: CASCADE }),
  sampled('task.restored', 'A task is restored from the trash', { task: TASK, changes: {}, cascade_id: CASCADE }),
  sampled('task.due_soon', 'A task is due within a day', {
    actor_id: null,
    task: { ...TASK, due_date: '2026-11-21' },
    changes: {},
  }),
  sampled('task.overdue', 'A task is overdue', { actor_id: null, task: { ...TASK, due_date: '2026-11-19' }, changes: {} }),
  sampled('comment.created', 'Someone comments on a task', { comment: COMMENT, task: TASK }),
  sampled('project.created', 'A project is created', { project: PROJECT, changes: {} }),
  sampled('project.updated', 'A project is changed in any way', { project: PROJECT, ...changed('name', 'Gemini', 'Apollo') }),
  sampled(
    'project.status_changed',
    'The status of a project changes',
    { project: { ...PROJECT, status: 'completed' }, ...changed('status', 'active', 'completed') },
    'project.updated',
  ),
  sampled('project.deleted', 'A project is moved to the trash', { project: PROJECT, cascade_id: CASCADE }),
  sampled('project.restored', 'A project is restored from the trash', { project: PROJECT, changes: {}, cascade_id: CASCADE }),
  sampled('relation.created', 'Two items are related', { relation: RELATION }),
  sampled('note.created', 'A note is created', { note: NOTE }),
  sampled('cycle.started', 'A cycle starts', { cycle: CYCLE, ...changed('status', 'planned', 'active') }),
  sampled('cycle.completed', 'A cycle is completed', {
    cycle: { ...CYCLE, status: 'completed', done_count: 9, snapshot: FIGURES },
    ...changed('status', 'active', 'completed'),
  }),
  sampled('team.member_added', 'Someone joins the team', { project_id: null, member: { user_id: PERSON, role: 'member' } }),
  sampled('team.member_removed', 'Someone leaves the team', { project_id: null, member: { user_id: PERSON, role: 'member' } }),
  sampled('agent.plan_staged', 'The agent proposes a plan', { plan: PLAN }),
  sampled('agent.plan_applied', 'A plan of the agent is applied', { plan: { ...PLAN, status: 'applied' } }),
  sampled('runner.job_finished', 'A runner’s job ends, however it ends', {
    project_id: null,
    actor_id: null,
    job: JOB,
    ...changed('status', 'running', 'failed'),
  }),
];

const ISSUE = {
  issue_number: 7,
  title: 'Sign-in fails on Safari',
  url: 'https://forge.example/acme/rocket/issues/7',
  labels: ['bug'],
};
const PULL_REQUEST = {
  pr_number: 12,
  title: 'Fix the sign-in on Safari',
  url: 'https://forge.example/acme/rocket/pull/12',
  merged: true,
  base: 'main',
  head: 'fix-sign-in',
  closes_issues: [7],
};

/** Fields that distinguish one kind of delivery from another; ../../forge/rules.ts has them all. */
function forgeFields(type: string): Record<string, unknown> {
  if (type.startsWith('forge.issue')) return ISSUE;
  if (type.startsWith('forge.pr_')) return { ...PULL_REQUEST, merged: type === 'forge.pr_merged' };
  if (type === 'forge.push') return { ref: 'refs/heads/main', commit_count: 1, messages: ['Fix the sign-in'] };
  if (type === 'forge.release_published')
    return { tag: 'v1.2.0', name: 'Spring', url: 'https://forge.example/acme/rocket/releases/1' };
  if (type === 'security.dependency_alert') return { ghsa_id: 'GHSA-xxxx-xxxx-xxxx', severity: 'high', package: 'left-pad' };
  return {
    branch: 'main',
    sha: '9f2c',
    ...(type === 'forge.workflow_run_failed' ? { name: 'CI', on_pr: true, pr_number: 12 } : {}),
  };
}

const forgePayload = (type: string) => ({
  repo: 'acme/rocket',
  sender: 'octocat',
  ...forgeFields(type),
  task: TASK,
  linked_task_ids: [TASK.task_id],
});

const FORGE_LABELS: Readonly<Record<ForgeEventType, string>> = {
  'forge.issue_opened': 'An issue is opened on the code host',
  'forge.issue_closed': 'An issue is closed on the code host',
  'forge.issue_reopened': 'An issue is reopened on the code host',
  'forge.pr_opened': 'A pull request is opened',
  'forge.pr_synchronize': 'A pull request gets new commits',
  'forge.pr_merged': 'A pull request is merged',
  'forge.pr_closed': 'A pull request is closed without a merge',
  'forge.push': 'Commits are pushed',
  'forge.release_published': 'A release is published',
  'forge.check_suite_failed': 'Checks of a commit fail',
  'forge.workflow_run_failed': 'A CI run fails',
  'security.dependency_alert': 'A dependency is found vulnerable',
};
const FAMILY_LABELS: Readonly<Record<keyof typeof FORGE_FAMILIES, string>> = {
  'forge.pull_request': 'Anything happens to a pull request',
  'forge.issue': 'Anything happens to an issue on the code host',
  'forge.*': 'Anything happens on the code host but a dependency alert',
};
const FAMILY_NAMES = Object.keys(FORGE_FAMILIES) as (keyof typeof FORGE_FAMILIES)[];

/** All trigger types, in list order. */
export const TRIGGERS: readonly Trigger[] = [
  ...WORK_TRIGGERS,
  ...FORGE_EVENTS.map((type) => sampled(type, FORGE_LABELS[type], forgePayload(type))),
  ...FAMILY_NAMES.map((family) => {
    const [member] = FORGE_FAMILIES[family];
    return sampled(family, FAMILY_LABELS[family], forgePayload(member ?? ''), member ?? 'forge.push');
  }),
  started('schedule', 'On a schedule', {
    ...base('schedule'),
    project_id: null,
    actor_id: null,
    scheduled_for: '2026-12-01T09:00:00.000Z',
  }),
  started('manual', 'When someone starts it by hand', { ...base('manual'), project_id: null }),
];

/** Returns `to` of one changed field; undefined if the field did not change. */
function changedTo(payload: Readonly<Record<string, unknown>>, field: string): unknown {
  const changes = payload['changes'];
  if (typeof changes !== 'object' || changes === null || !Object.hasOwn(changes, field)) return undefined;
  const change = (changes as Record<string, unknown>)[field];
  return typeof change === 'object' && change !== null ? ((change as Record<string, unknown>)['to'] ?? null) : undefined;
}

const assignee = (payload: Readonly<Record<string, unknown>>): unknown =>
  (payload['task'] as { assigned_to?: unknown } | null | undefined)?.assigned_to ?? null;

/** Triggers that an event starts besides its own name, by event type, each with its test on the payload. */
const DERIVED: Readonly<Record<string, Readonly<Record<string, (payload: Readonly<Record<string, unknown>>) => boolean>>>> = {
  'task.created': { 'task.assigned': (payload) => assignee(payload) !== null },
  'task.updated': {
    'task.status_changed': (payload) => changedTo(payload, 'status') !== undefined,
    'task.completed': (payload) => changedTo(payload, 'status') === 'done',
    'task.assigned': (payload) => (changedTo(payload, 'assigned_to') ?? null) !== null,
  },
  'project.updated': { 'project.status_changed': (payload) => changedTo(payload, 'status') !== undefined },
};
const derivedOf = (subject: string) => Object.entries(Object.hasOwn(DERIVED, subject) ? (DERIVED[subject] ?? {}) : {});

/** Returns the trigger types that an event starts: its own name, those derived from its changes, and its families. */
export const triggersOfEvent = (subject: string, payload: Readonly<Record<string, unknown>>): string[] => [
  ...triggersOf(subject),
  ...derivedOf(subject).flatMap(([trigger, isDerived]) => (isDerived(payload) ? [trigger] : [])),
];

/** Whether events of a type hold a page of tasks for webhooks; they start no automation. */
const isCascade = (type: EventType): boolean => type.includes('.cascade_');

/** For every event type, all trigger types that such an event can start. The table `event_types` holds the same. */
export const triggersOfTypes = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, isCascade(type) ? [] : [...triggersOf(type), ...derivedOf(type).map(([trigger]) => trigger)]]),
) as Readonly<Record<EventType, string[]>>;
