import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Knex } from 'knex';
import { defineStatement, run } from '../../../../db/statement.js';
import type { ActionFailure } from '../../../gate/contract/action-refused.js';
import type { ActionDescription } from '../../../gate/contract/action-type.js';
import { actionTypes, availableActions, isSent } from '../../actions/registry.js';
import { GATE } from '../../actions/rules.js';
import { findPlaces } from '../../../work/graph/item-place.js';
import { resolveTarget, getWorkAction } from '../../actions/work-actions.js';
import type { Context, Services } from '../../../platform/context.js';
import { isStatementTimeout, toDomainError } from '../../../platform/database/database-errors.js';
import { dryRun } from '../../../platform/database/dry-run.js';
import { readVersions } from '../../../gate/staging/changed-since.js';
import { type Tried, tryAction } from '../../../gate/staging/try-action.js';
import { toFailure } from '../execution/action-failure.js';
import { outsideTeam } from '../execution/effect.sql.js';
import { withAnswers } from '../execution/answers.js';
import { creatorContext, type Creator, type RunRow } from '../execution/load-run.js';
import { type FilledRun, parseParams, renderFromEvent } from '../execution/read-params.js';
import { leaveUnchanged } from './leave-unchanged.js';
import { type JudgedRun, readOnlyIf } from './only-if.js';
import { composeTail, listTail, type StagedStep, type StoredTail } from './tail.js';

/** A trial waits this long for a row that another transaction has locked. */
const LOCK_TIMEOUT_MS = 500;

/** $1 = user id, $2 = team id or null, $3 = run id. */
const creatorStatement = defineStatement({
  name: 'creator_of_staged',
  text: /* sql */ `
    select u.email, u.role, u.status = 'active' as is_active, m.role as seat,
      array(select a.index from run_actions a where a.run_id = $3 and a.status in ('succeeded', 'failed', 'skipped')) as done
    from users u left join memberships m on m.team_id = $2 and m.user_id = u.user_id where u.user_id = $1`,
});

/** A trial takes about this long at most: it holds locks on what it would change, and others wait for them. */
const BUDGET_MS = 2_000;

/** $1, $2 = milliseconds to wait for a lock, and for a statement. They last until the savepoint is rolled back. */
const limitsStatement = defineStatement({
  name: 'limits_of_trial',
  text: `select set_config('lock_timeout', $1::text || 'ms', true), set_config('statement_timeout', $2::text || 'ms', true)`,
});

/** One action with its parameters filled in, before it is tried. */
export function fillIn(run: FilledRun, index: number, description: ActionDescription | undefined): StagedStep {
  const { type, name } = run.actions[index] as { type: string; name?: string | null };
  const marks = new Map<string, string>();
  const buildMark = (secret: string): string => {
    const mark = marks.get(secret) ?? `secret-${randomUUID()}`;
    marks.set(secret, mark);
    return mark;
  };
  const step: StagedStep = {
    index,
    type,
    name: name ?? null,
    tool: getWorkAction(type)?.tool ?? null,
    entity_type: getWorkAction(type)?.entity ?? null,
    entity_id: null,
    title: null,
    params: null,
    secrets: {},
    before: null,
    after: null,
    risk: description?.risk ?? (isSent(type) ? 'medium' : 'low'),
    reversible: false,
    expected_version: null,
    refused: null,
  };
  if (!description) return { ...step, refused: { code: 'action_unavailable', message: `Unknown action ${type}` } };
  try {
    const params = renderFromEvent(description, run, index, description.secrets ? { get: buildMark } : undefined);
    const secrets = Object.fromEntries([...marks].map(([secret, mark]) => [mark, secret]));
    const target = params['task_id'];
    const entity_id = typeof target === 'string' && step.entity_type !== null ? target : null;
    return { ...step, params, secrets, entity_id, ...(marks.size > 0 && { risk: 'high' }) };
  } catch (thrown) {
    return { ...step, refused: toRefusal(thrown) };
  }
}

/** Fills in actions that are to be tried, one after the other: a skipped one has no parameters, so that nothing of it can be performed. */
async function fillInAll(run: JudgedRun, indexes: readonly number[]): Promise<StagedStep[]> {
  const types = new Map(availableActions().map((action) => [action.type, action]));
  const steps: StagedStep[] = [];
  for (const index of indexes) {
    steps.push(judge(run, index, types.get(run.actions[index]?.['type'] as string)));
    // A condition may take its whole budget: others have their turn before the next one.
    if (run.actions[index]?.['if'] !== undefined) await setImmediate();
  }
  return steps;
}

function judge(run: JudgedRun, index: number, description: ActionDescription | undefined): StagedStep {
  const step = fillIn(run, index, description);
  const unfilled = { ...step, params: null, secrets: {}, entity_id: null };
  try {
    const skipped = readOnlyIf(run, index);
    return skipped === null ? step : { ...unfilled, risk: 'low', refused: null, skipped };
  } catch (thrown) {
    return { ...unfilled, refused: toRefusal(thrown) };
  }
}

/** @throws the error itself if it is no refusal: a lock was not free, or PostgreSQL is unavailable */
function toRefusal(thrown: unknown): ActionFailure {
  const failure = toFailure(thrown);
  if (!failure || failure.code === 'internal_error') throw thrown;
  return failure;
}

/** What a trial of one run shares. */
interface Trial {
  ctx: Context;
  run: RunRow;
  /** Titles by which readers know targets: an action cannot give one another title, and a later one change it under that. */
  titles: Map<string, string>;
  /** Versions of targets before the first action on them. */
  versions: Map<string, number | null>;
}

/** @throws PERMISSION_DENIED another team's, whose locks a trial must not take, and of which the run's readers learn nothing */
function checkTeam({ team_id }: RunRow, teamId: string | undefined): void {
  if (team_id !== null && teamId !== undefined && teamId !== team_id) throw outsideTeam();
}

/** What a member of the run's team is shown of a trial. */
function toShown({ run, versions, titles }: Trial, step: StagedStep, entityId: string | null, tried: Tried): StagedStep {
  const { from, to, before, after, risk, reversible } = tried;
  const params = { ...step.params, ...tried.resolved };
  checkTeam(run, to.team_id);
  const known = entityId === null ? to.title : (titles.get(entityId) ?? (from ?? to).title);
  if (entityId !== null) titles.set(entityId, known);
  if (entityId !== null && !versions.has(entityId)) versions.set(entityId, from?.version ?? null);
  const expected_version = entityId === null ? null : (versions.get(entityId) ?? null);
  return { ...step, params, title: known, before, after, risk, reversible, expected_version };
}

/** Checks both ends of a new relation: it also shows at its target. */
async function checkEnds({ ctx, run }: Trial, { source_id, target_id }: Readonly<Record<string, unknown>>): Promise<void> {
  const places = await findPlaces(ctx, [String(source_id), String(target_id)]);
  for (const { team_id } of places.values()) checkTeam(run, team_id);
}

/** Performs one action; what it changes is seen by the next one. */
async function tryStep(trial: Trial, step: StagedStep, db: Knex): Promise<StagedStep> {
  const { run } = trial;
  const type = actionTypes[step.type];
  if (!type || step.params === null) return step;
  const ctx = { ...trial.ctx, db };
  const params = parseParams(type, step.params);
  const spec = getWorkAction(step.type);
  if (!spec) {
    await (type.check ? type.check(ctx, params, run) : type.perform(ctx, params, run));
    const { task_id } = params as { task_id?: string };
    return { ...step, ...(task_id !== undefined && { entity_type: 'task', entity_id: task_id }) };
  }
  const target = resolveTarget(spec, params as Record<string, unknown>, run);
  const placed = { ...step, entity_id: target.entityId };
  if (spec.tool === 'relation.create') await checkEnds({ ...trial, ctx }, target.params);
  const tried = await tryAction(ctx, { tool: spec.tool, spec, ...target }, ctx, undefined, (from) =>
    checkTeam(run, from.team_id),
  );
  return toShown(trial, placed, target.entityId, tried);
}

/** Nobody knows what an action does that took too long to try: it is decided by itself, with care. */
const untried = (step: StagedStep): StagedStep => (step.skipped === undefined ? { ...step, risk: 'high' } : step);

interface Pass {
  /** Each action in a savepoint of its own, so that one that is refused leaves the others. */
  apart: boolean;
  /** When the trial ends, ms. */
  end: number;
}

/**
 * Tries the actions one after the other and takes them all back.
 * @throws without `apart`, what the first refused action throws
 */
async function tryIn(services: Services, row: RunRow, steps: readonly StagedStep[], creator: Creator, { apart, end }: Pass) {
  const tried: StagedStep[] = [];
  await dryRun(services.db, async (db) => {
    await run(db, limitsStatement, [String(LOCK_TIMEOUT_MS), String(Math.max(end - Date.now(), 1))]);
    const ctx = { ...creatorContext({ ...services, db }, row, creator), notifyRelay: () => undefined };
    const trial = { ctx, run: row, titles: new Map<string, string>(), versions: new Map<string, number | null>() };
    for (const step of steps) {
      const refused = (thrown: unknown): StagedStep => ({ ...step, refused: toRefusal(thrown) });
      if (step.refused || step.skipped !== undefined) tried.push(step);
      else if (Date.now() > end) tried.push(untried(step));
      else if (!apart) tried.push(await tryStep(trial, step, db));
      else tried.push(await db.transaction((inner) => tryStep(trial, step, inner)).catch(refused));
    }
  });
  return tried;
}

/** Tries the actions. Most are not refused, and savepoints cost two round trips each: they are used once an action is. */
async function tryAll(services: Services, run: RunRow, steps: readonly StagedStep[], creator: Creator): Promise<StagedStep[]> {
  const end = Date.now() + BUDGET_MS;
  try {
    return await tryIn(services, run, steps, creator, { apart: false, end });
  } catch (thrown) {
    toRefusal(thrown);
    return tryIn(services, run, steps, creator, { apart: true, end });
  }
}

/** Adds the version of each target that the trial did not read: of an action that it refused, left out, or that says nothing of its target. */
async function withVersions(ctx: Pick<Context, 'db'>, steps: readonly StagedStep[]): Promise<StagedStep[]> {
  const missing = steps.filter(({ entity_id, expected_version }) => entity_id !== null && expected_version === null);
  if (missing.length === 0) return [...steps];
  const known = new Map(
    steps.map(({ entity_id, expected_version }) => [entity_id, expected_version]).filter(([, version]) => version !== null) as [
      string,
      number,
    ][],
  );
  const found = await readVersions(ctx, missing);
  return steps.map((step) => {
    const id = step.entity_id ?? '';
    return { ...step, expected_version: step.expected_version ?? known.get(id) ?? found.get(id) ?? null };
  });
}

/**
 * Stages what a gate releases: fills in each action from the run's event, and tries those that run in our own database, as the automation's
 * creator, in a transaction that is rolled back. An action that would be refused is kept and says so. `tried` is false if a row was locked: the
 * text then holds the parameters only. So it does where a trial takes too long; the risk is then high. Joins the open transaction.
 * @param options `skipsUnchanged`: nobody has been asked yet, and actions that would change nothing are skipped
 */
export async function stageTail(
  services: Services,
  row: RunRow,
  gateIndex: number,
  { skipsUnchanged }: { skipsUnchanged: boolean } = { skipsUnchanged: false },
): Promise<StoredTail & { tried: boolean; actions: StagedStep[] }> {
  const run = await withAnswers(services.db, row);
  const { done, ...creator } = await readCreator(services.db, run);
  const steps = await fillInAll(run, listTail(run.actions, gateIndex, done));
  const { run_id, automation_id, automation_version, creator_id } = run;
  const { actions: shown, tried } = await tryOrKeep(services, run, steps, creator);
  const actions = skipsUnchanged ? leaveUnchanged(shown, steps) : shown;
  const tail = composeTail({ v: 1, run_id, gate_index: gateIndex, automation_id, automation_version, creator_id, actions });
  return { ...tail, tried, actions };
}

/** Tries the actions; where that is not possible, returns them as they were filled in. */
async function tryOrKeep(
  services: Services,
  run: RunRow,
  steps: readonly StagedStep[],
  creator: Creator,
): Promise<{ actions: StagedStep[]; tried: boolean }> {
  try {
    return { actions: await withVersions(services, await tryAll(services, run, steps, creator)), tried: true };
  } catch (thrown) {
    const { code } = toDomainError(thrown);
    if (code === 'RESOURCE_CONFLICT') {
      const refused = toRefusal(thrown);
      const actions = steps.map((step) => (step.skipped === undefined ? { ...step, refused: step.refused ?? refused } : step));
      return { actions, tried: true };
    }
    services.log.warn({ err: thrown, run_id: run.run_id }, 'the actions of a run could not be tried');
    return { actions: await withVersions(services, steps.map(untried)), tried: isStatementTimeout(thrown) };
  }
}

/**
 * Tries every action of a run as its gates would stage it, one after the other, each after those before it, and takes them all back. Nothing is
 * stored. `tried` is false if a row was locked or it took too long.
 */
export async function tryRun(services: Services, run: RunRow): Promise<{ actions: StagedStep[]; tried: boolean }> {
  const creator = await readCreator(services.db, run);
  const steps = await fillInAll(run, [...run.actions.keys()]);
  const { actions, tried } = await tryOrKeep(services, run, steps, creator);
  const gate = steps.findIndex(({ type, params }) => type === GATE && params?.['if_unchanged'] === 'skip');
  const behind = gate === -1 ? steps.length : gate + 1;
  return { actions: [...actions.slice(0, behind), ...leaveUnchanged(actions.slice(behind), steps.slice(behind))], tried };
}

async function readCreator(db: Knex, { run_id, creator_id, team_id }: RunRow): Promise<Creator & { done: number[] }> {
  const values = [creator_id, team_id, run_id];
  const [creator] = await run<Creator & { done: number[] } & Record<string, unknown>>(db, creatorStatement, values);
  if (!creator) throw new Error('A run has a creator');
  return creator;
}
