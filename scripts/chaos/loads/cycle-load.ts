import { v7 as uuidv7 } from 'uuid';
import { type Desk, surprise } from '../desk.js';

const MAX_TASKS = 8;
const yesterday = (): string => new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);

/** Answers that a repetition or a rival explains. */
const EXPECTED = [200, 409];

/** Plans a cycle of the quiet project; the key makes repetitions harmless. */
async function plan(desk: Desk): Promise<string | undefined> {
  const { caller, world } = desk;
  const body = { name: 'Chaos', project_id: world.quiet };
  const headers = { 'idempotency-key': uuidv7() };
  const answer = await caller.untilKnown({ method: 'POST', path: '/api/sprints', token: world.member, headers, body });
  if (answer?.status === 201) return (answer.body as { cycle_id: string }).cycle_id;
  if (answer) surprise(desk, 'plan a cycle', answer);
  return undefined;
}

/** Adds live tasks of the project; one that just went to the trash is a 404. */
async function fill(desk: Desk, cycleId: string): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const tasks = ledger.tasks.filter(({ trashed, project_id }) => !trashed && project_id === world.quiet);
  if (tasks.length === 0) return;
  const task_ids = Array.from({ length: random.between(1, MAX_TASKS) }, () => random.pick(tasks).task_id);
  const path = `/api/sprints/${cycleId}/tasks`;
  const answer = await caller.untilKnown({ method: 'POST', path, token: world.member, body: { task_ids } });
  if (answer && ![...EXPECTED, 404].includes(answer.status)) surprise(desk, 'fill a cycle', answer);
}

/** Completes the cycle: two people at once, or its date. */
async function finish(desk: Desk, cycleId: string): Promise<void> {
  const { caller, world, ledger, random } = desk;
  const path = `/api/sprints/${cycleId}`;
  if (random.chance(0.3)) {
    const body = { end_date: yesterday(), auto_complete: true };
    const answer = await caller.untilKnown({ method: 'PATCH', path, token: world.manager, body });
    if (answer && !EXPECTED.includes(answer.status)) surprise(desk, 'date a cycle', answer);
    if (answer?.status === 200) ledger.cycles.push({ cycle_id: cycleId });
    return;
  }
  const complete = (token: string, rollover_to: string) =>
    caller.untilKnown({ method: 'POST', path: `${path}/complete`, token, body: { rollover_to } });
  const target = random.pick(['backlog', 'next']);
  const answers = await Promise.all([complete(world.member, target), complete(world.manager, target)]);
  // Often there is no next cycle; an active one that stays would hold up every other.
  if (!answers.some((answer) => answer?.status === 200)) answers.push(await complete(world.member, 'backlog'));
  for (const answer of answers) if (answer && !EXPECTED.includes(answer.status)) surprise(desk, 'complete a cycle', answer);
  if (answers.some((answer) => answer?.status === 200)) ledger.cycles.push({ cycle_id: cycleId });
}

/** Returns the active cycle of the quiet project. */
async function activeCycle({ caller, world }: Desk): Promise<string | undefined> {
  const path = `/api/sprints?team_id=${world.teamId}&status=active`;
  const answer = await caller.untilKnown({ method: 'GET', path, token: world.member });
  const cycles = (answer?.status === 200 ? answer.body : []) as { cycle_id: string; project_id: string | null }[];
  return cycles.find(({ project_id }) => project_id === world.quiet)?.cycle_id;
}

/**
 * Plans a cycle, fills it, starts it, and completes it. Another one may be active until its date's workflow comes, or because the outcome of
 * its completion did not become known: it is completed instead.
 */
export async function workOnCycles(desk: Desk): Promise<void> {
  const { caller, world } = desk;
  const cycleId = await plan(desk);
  if (cycleId === undefined) return;
  await fill(desk, cycleId);
  const started = await caller.untilKnown({ method: 'POST', path: `/api/sprints/${cycleId}/start`, token: world.member });
  if (!started) return;
  if (!EXPECTED.includes(started.status)) return surprise(desk, 'start a cycle', started);
  await fill(desk, cycleId);
  const active = started.status === 200 ? cycleId : await activeCycle(desk);
  if (active !== undefined) await finish(desk, active);
}
