import { fromDatabaseError } from '../../platform/database/database-errors.js';
import type { Context } from '../../platform/context.js';
import { DomainError, forbidden, invalid, reasonOf } from '../../platform/errors.js';
import { agentContext, type ActingPlan } from './agent-context.js';
import { canonicalJson } from '../../gate/staging/canonical.js';
import type { Proposal } from './proposal.js';
import { type PreparedAction, readAction } from './read-proposal.js';
import type { Target } from '../../gate/staging/read-target.js';
import { MAX_DESCENDANTS } from '../../gate/staging/read-target.sql.js';
import { refuseAction } from './refuse-action.js';
import { listNeeds, parseReference, replaceReferences } from '../../gate/staging/references.js';
import { isNoChange, type Tried, tryAction } from '../../gate/staging/try-action.js';
import { MAX_ACTIONS, type PlanAction } from './schema.js';
import { repeatedWords, unchangedWords } from './unchanged-words.js';

/** The actions that a dry run accepted, and what it read about them. */
interface Trials {
  actions: PlanAction[];
  omitted: { index: number; reason: string }[];
  /** Every team in which they write. */
  teamIds: Set<string>;
  /** Projects of their targets; null stands for a target without a project. */
  projectIds: Set<string | null>;
}

/** Performs the actions of one proposal in a transaction that is rolled back, and collects what they do. */
export class Trial implements Trials {
  readonly actions: PlanAction[] = [];
  readonly omitted: Trials['omitted'] = [];
  readonly teamIds = new Set<string>();
  readonly projectIds = new Set<string | null>();
  /** Index in the plan by index in the proposal. */
  private readonly indexById = new Map<number, number>();
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
      this.omitted.push({ index, reason: reasonOf(error) });
    }
  }

  private async tryOne(ctx: Context, index: number): Promise<void> {
    const { source, undoneActionId } = this.proposal;
    const read = readAction(this.proposal.actions, index, { source, isUndo: undoneActionId != null });
    const action: PreparedAction = { ...read, ...replaceReferences(read, (k) => `$${this.finalIndex(k)}`, read.spec.references) };
    const key = canonicalJson([action.tool, action.entityId, action.params]);
    const same = this.seen.get(key);
    if (same !== undefined) {
      this.indexById.set(index, same);
      this.omitted.push({ index, reason: repeatedWords(this.actions[same]?.title ?? '') });
      return;
    }
    if (this.actions.length === MAX_ACTIONS) throw invalid(`A plan has at most ${MAX_ACTIONS} actions`);
    const acting = agentContext(ctx, this.plan, this.actions.length);
    const tried = await tryAction(ctx, action, acting, this.made, (from) => this.checkSize(from));
    this.checkTeam(tried.to.team_id);
    if (tried.performed.unchanged || isNoChange(action.tool, tried)) {
      const title = this.getTitle(action.entityId, tried.from ?? tried.to, null) ?? tried.to.title;
      this.omitted.push({ index, reason: unchangedWords(action.tool, title, action.params) });
      return;
    }
    this.accept(key, index, action, tried);
  }

  /** @throws INVALID_REQUEST the action referred to was left out */
  private finalIndex(k: number): number {
    const index = this.indexById.get(k);
    if (index === undefined) throw invalid(`It needs action ${k}, which was left out`);
    return index;
  }

  private checkSize({ descendants }: Target): void {
    this.descendants += descendants;
    if (this.descendants > MAX_DESCENDANTS)
      throw invalid(`A plan changes at most ${MAX_DESCENDANTS.toLocaleString('en')} subtasks`);
  }

  /**
   * A team's plan is read by all its members, so it must not show what only the user for whom it is staged may read
   * (docs/decisions/agent.md#plans-of-a-team-stay-in-the-team).
   */
  private checkTeam(teamId: string): void {
    const own = this.proposal.session.team_id;
    if (own !== null && own !== teamId) throw forbidden('A plan of a team changes items of this team only');
  }

  private accept(key: string, proposed: number, action: PreparedAction, tried: Tried): void {
    const { tool, spec, entityId } = action;
    const params = { ...action.params, ...tried.resolved };
    const { performed, from, to, before, after, risk, reversible } = tried;
    const index = this.actions.length;
    this.actions.push({
      index,
      tool,
      entity_type: spec.entity,
      entity_id: entityId,
      title: this.getTitle(entityId, from ?? to, after) ?? to.title,
      params,
      before,
      after,
      risk,
      reversible,
      expected_version: this.expectedVersion(action, from),
      needs: listNeeds(action, spec.references),
    });
    if (performed.made) this.made.set(index, performed.made.entity_id);
    this.seen.set(key, index);
    this.indexById.set(proposed, index);
    this.teamIds.add(to.team_id);
    this.projectIds.add(to.project_id);
  }

  /** Returns the title by which a reader knows a target: a plan cannot give it another one and then delete it under that name. */
  private getTitle(
    entityId: string | null,
    { title }: Target,
    changed: Readonly<Record<string, unknown>> | null,
  ): string | undefined {
    if (entityId === null) return undefined;
    if (!this.titles.has(entityId)) this.titles.set(entityId, title);
    const isRenamed = changed !== null && ('title' in changed || 'name' in changed);
    return isRenamed ? undefined : this.titles.get(entityId);
  }

  private expectedVersion({ spec, entityId }: PreparedAction, before: Target | undefined): number | null {
    const hasVersion = spec.entity === 'task' || spec.entity === 'project';
    if (!hasVersion || entityId === null || parseReference(entityId) !== undefined) return null;
    if (!this.versions.has(entityId)) this.versions.set(entityId, before?.version ?? null);
    const { source, expectedVersions } = this.proposal;
    if (spec.kind === 'comment' && (source === 'chat' || source === 'mcp')) return null;
    return expectedVersions?.get(entityId) ?? this.versions.get(entityId) ?? null;
  }
}
