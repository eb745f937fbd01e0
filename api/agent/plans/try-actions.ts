import { fromDatabaseError } from '../../core/database-errors.js';
import { type Context, userOf } from '../../core/context.js';
import { DomainError, forbidden, invalid } from '../../core/errors.js';
import { agentContext, type ActingPlan } from './agent-context.js';
import { canonicalJson } from './canonical.js';
import { createdFields, deletedFields, differences, named } from './describe-effect.js';
import type { Proposal } from './proposal.js';
import { type PreparedAction, readAction } from './read-proposal.js';
import { countsTree, readBefore } from './read-before.js';
import { readTarget, type Target } from './read-target.js';
import { MAX_DESCENDANTS } from './read-target.sql.js';
import { refuseAction } from './refuse-action.js';
import { needsOf, replaceReferences } from './references.js';
import type { Effect } from '../../actions/work/action.js';
import { isReversible, riskOf } from '../../actions/work/catalogue.js';
import { referenceOf } from './rules.js';
import { startsNext } from '../../actions/work/risk.js';
import { MAX_ACTIONS, type PlanAction } from './schema.js';
import type { Performed } from '../../actions/work/action.js';

type Fields = Record<string, unknown>;

/** The actions that a dry run accepted, and what it read about them. */
export interface Tried {
  actions: PlanAction[];
  omitted: { index: number; reason: string }[];
  /** Every team in which they write. */
  teamIds: Set<string>;
  /** Projects of their targets; null stands for a target without a project. */
  projectIds: Set<string | null>;
}

/** What an action did in the dry run. */
interface Outcome {
  performed: Performed;
  before: Target | undefined;
  after: Target;
}

/** Performs the actions of one proposal in a transaction that is rolled back, and collects what they do. */
export class Trial implements Tried {
  readonly actions: PlanAction[] = [];
  readonly omitted: Tried['omitted'] = [];
  readonly teamIds = new Set<string>();
  readonly projectIds = new Set<string | null>();
  /** Index in the plan by index in the proposal. */
  private readonly indexOf = new Map<number, number>();
  /** Index in the plan by canonical text of an action. */
  private readonly seen = new Map<string, number>();
  /** Ids of what the actions created in the dry run, by index in the plan. */
  private readonly made = new Map<number, string>();
  /** Versions of the targets before the first action. */
  private readonly versions = new Map<string, number | null>();
  /** Titles of the targets before the first action: those that a reader knows. */
  private readonly titles = new Map<string, string>();
  private descendants = 0;

  constructor(
    private readonly ctx: Context,
    private readonly proposal: Proposal,
    private readonly plan: ActingPlan,
  ) {}

  /** @throws what the operation throws, with `action_index`, if the proposal refuses as a whole */
  async tryAll(): Promise<void> {
    for (const index of this.proposal.actions.keys()) {
      if (this.proposal.onRefusal === 'refuse')
        await this.tryOne(this.ctx, index).catch((error: unknown) => refuseAction(error, index));
      else await this.tryOrOmit(index);
    }
  }

  /** Tries an action in a savepoint of its own and leaves it out if it is refused. */
  private async tryOrOmit(index: number): Promise<void> {
    try {
      await this.ctx.db.transaction((db) => this.tryOne({ ...this.ctx, db }, index));
    } catch (thrown) {
      const error = thrown instanceof DomainError ? thrown : fromDatabaseError(thrown);
      if (!error || error.status >= 500) throw thrown;
      this.omitted.push({ index, reason: error.message });
    }
  }

  private async tryOne(ctx: Context, index: number): Promise<void> {
    const { source, undoOf } = this.proposal;
    const read = readAction(this.proposal.actions, index, { source, isUndo: undoOf != null });
    const action: PreparedAction = { ...read, ...replaceReferences(read, (k) => `$${this.finalIndex(k)}`, read.spec.references) };
    const key = canonicalJson([action.tool, action.entityId, action.params]);
    const same = this.seen.get(key);
    if (same !== undefined) {
      this.indexOf.set(index, same);
      this.omitted.push({ index, reason: `Same as action ${same} of the plan` });
      return;
    }
    if (this.actions.length === MAX_ACTIONS) throw invalid(`A plan has at most ${MAX_ACTIONS} actions`);
    const outcome = await this.perform(ctx, action);
    const described = this.describe(action, outcome);
    if (outcome.performed.unchanged || isNoChange(action, described)) {
      this.omitted.push({ index, reason: 'It changes nothing' });
      return;
    }
    this.accept(key, index, action, outcome, described);
  }

  /** @throws INVALID_REQUEST the action referred to was left out */
  private finalIndex(k: number): number {
    const index = this.indexOf.get(k);
    if (index === undefined) throw invalid(`It needs action ${k}, which was left out`);
    return index;
  }

  private async perform(ctx: Context, action: PreparedAction): Promise<Outcome> {
    const { spec } = action;
    const { entityId, params } = replaceReferences(action, (k) => this.made.get(k) as string, spec.references);
    const before = await readBefore(ctx, { ...action, entityId, params }, countsTree(action));
    if (before) this.checkSize(before);
    const acting = agentContext({ ...ctx, notifyRelay: () => undefined }, this.plan, this.actions.length);
    const performed = await spec.perform(acting, entityId ?? '', params as never);
    const shown = entityId === null ? performed.made : { entity_type: spec.entity, entity_id: entityId };
    const after = shown && (await readTarget(ctx, shown.entity_type, shown.entity_id, spec.kind === 'restore'));
    const known = after ?? before;
    if (!known) throw new Error(`${action.tool} left no row`);
    this.checkTeam(known.team_id);
    return { performed, before, after: known };
  }

  private checkSize({ descendants }: Target): void {
    this.descendants += descendants;
    if (this.descendants > MAX_DESCENDANTS)
      throw invalid(`A plan changes at most ${MAX_DESCENDANTS.toLocaleString('en')} subtasks`);
  }

  /**
   * A team's plan is read by all its members, so it must not show what only the user for whom it is staged may read
   * (docs/decisions.md#plans-of-a-team-stay-in-the-team).
   */
  private checkTeam(teamId: string): void {
    const own = this.proposal.session.team_id;
    if (own !== null && own !== teamId) throw forbidden('A plan of a team changes items of this team only');
  }

  private describe(
    action: PreparedAction,
    { performed, before, after }: Outcome,
  ): { before: Fields | null; after: Fields | null } {
    const { tool, spec, params } = action;
    if (spec.kind === 'comment')
      return { before: null, after: performed.mentions?.length ? { mentions: performed.mentions } : {} };
    if (tool === 'relation.create') {
      const parent = performed.made?.entity_id.startsWith('parent:') ? before?.record['source_id'] : undefined;
      return { before: parent === undefined ? null : this.named({ parent_task_id: parent }), after: { ...params } };
    }
    if (spec.kind === 'create') return { before: null, after: this.named(createdFields(after)) };
    if (!before) throw new Error(`${tool} had no target`);
    if (spec.kind === 'restore') {
      const along = after.descendants > 0 ? { subtasks_restored: after.descendants } : {};
      return { before: null, after: this.named({ ...deletedFields(after), ...along }) };
    }
    if (spec.kind === 'remove') {
      const sideEffects = before.descendants > 0 ? { subtasks_trashed: before.descendants } : null;
      return { before: this.named(deletedFields(before)), after: sideEffects };
    }
    const changed = differences(before.record, after.record);
    const moved = 'project_id' in changed.after && before.descendants > 0 ? { subtasks_moved: before.descendants } : {};
    const next = startsNext(before.record, after.record) ? { next_occurrence: true } : {};
    return { before: this.named(changed.before), after: this.named({ ...changed.after, ...moved, ...next }) };
  }

  /** Replaces the ids that the dry run gave to new items, which the plan will give anew, by their references. */
  private named(fields: Fields): Fields {
    return named(fields, this.made);
  }

  private accept(
    key: string,
    proposed: number,
    action: PreparedAction,
    { performed, before, after }: Outcome,
    described: { before: Fields | null; after: Fields | null },
  ): void {
    const { tool, spec, entityId, params } = action;
    const index = this.actions.length;
    const effect: Effect = {
      before: before?.record ?? null,
      after: after.record,
      userId: userOf(this.ctx),
      descendants: before?.descendants ?? 0,
      openDescendants: before?.open_descendants ?? 0,
      mentions: performed.mentions?.length ?? 0,
    };
    this.actions.push({
      index,
      tool,
      entity_type: spec.entity,
      entity_id: entityId,
      title: this.titleOf(entityId, before ?? after, described.after) ?? after.title,
      params,
      ...described,
      risk: riskOf(tool, effect),
      reversible: isReversible(tool, effect),
      expected_version: this.expectedVersion(action, before),
      needs: needsOf(action, spec.references),
    });
    if (performed.made) this.made.set(index, performed.made.entity_id);
    this.seen.set(key, index);
    this.indexOf.set(proposed, index);
    this.teamIds.add(after.team_id);
    this.projectIds.add(after.project_id);
  }

  /** Returns the title by which a reader knows a target: a plan cannot give it another one and then delete it under that name. */
  private titleOf(entityId: string | null, { title }: Target, changed: Fields | null): string | undefined {
    if (entityId === null) return undefined;
    if (!this.titles.has(entityId)) this.titles.set(entityId, title);
    const isRenamed = changed !== null && ('title' in changed || 'name' in changed);
    return isRenamed ? undefined : this.titles.get(entityId);
  }

  private expectedVersion({ spec, entityId }: PreparedAction, before: Target | undefined): number | null {
    const hasVersion = spec.entity === 'task' || spec.entity === 'project';
    if (!hasVersion || entityId === null || referenceOf(entityId) !== undefined) return null;
    if (!this.versions.has(entityId)) this.versions.set(entityId, before?.version ?? null);
    const { source, expectedVersions } = this.proposal;
    if (spec.kind === 'comment' && (source === 'chat' || source === 'mcp')) return null;
    return expectedVersions?.get(entityId) ?? this.versions.get(entityId) ?? null;
  }
}

/** Whether an update found every field as wanted. */
const isNoChange = ({ spec }: PreparedAction, { before, after }: { before: Fields | null; after: Fields | null }): boolean =>
  spec.kind === 'update' && Object.keys({ ...before, ...after }).length === 0;
