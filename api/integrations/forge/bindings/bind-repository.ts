import { ForgeRepository } from '../../../../db/models/forge-repository.js';
import { defineStatement, run } from '../../../../db/statement.js';
import { bindingProof } from '../../../platform/config.js';
import { authorize } from '../../../platform/access/access.js';
import { type Context, inTransaction, requireUser } from '../../../platform/context.js';
import { conflict, forbidden, invalid } from '../../../platform/errors.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import { seatInTeam, findSeat } from '../../../platform/access/seats.js';
import { type BindingRow, presentBinding } from './list-repositories.js';
import { authorizeBinding, isInstanceAdmin } from '../policy.js';
import { provePush } from './prove-push.js';
import type { BindRepository, RepositoryBinding } from '../schema.js';
import { teamOfProject } from '../../../work/projects/team-of-project.js';

/** $1 = repository. */
const lockStatement = defineStatement({
  name: 'lock_bindings_of_repository',
  text: 'select pg_advisory_xact_lock(hashtextextended($1, 8))',
});
/** $1 = repository, $2 = team id, $3 = project id or null, $4 = whether issues are synced, $5 = caller id. Returns no row if it is bound. */
const bindStatement = defineStatement({
  name: 'bind_repository',
  text: /* sql */ `
    insert into forge_repositories (repo, team_id, project_id, sync_issues, created_by) values ($1, $2, $3, $4, $5)
    on conflict (repo, team_id, project_id) do nothing returning *`,
});

/**
 * @throws RESOURCE_NOT_FOUND no live project | INVALID_REQUEST a project of another team (PERMISSION_DENIED for its non-members)
 */
async function checkProject(ctx: Context, projectId: string, teamId: string): Promise<void> {
  const team = await teamOfProject(ctx, projectId);
  if (team === teamId) return;
  authorize('project.read', await findSeat(ctx, team));
  throw invalid('project_id must be a project of the team');
}

/**
 * Checks with the code host, before any transaction, that the caller may push to the repository, if the installation requires
 * proof. Rejects callers who may not bind for the team before any request. A push permission lost later does not end the binding.
 * @throws the permission errors of `bindRepository` | INTERNAL_ERROR 503 the code host does not respond
 */
async function checkProof(ctx: Context, teamId: string, repo: string): Promise<void> {
  if (bindingProof(ctx.config) === 'open' || isInstanceAdmin(ctx.actor)) return;
  authorizeBinding(ctx.actor, await seatInTeam(ctx, teamId));
  await provePush(ctx, requireUser(ctx), repo);
}

/**
 * Binds a repository to a team and optionally to one of its projects; its events then reach only the teams that bound it. A team
 * may bind it to several projects; only an instance admin may bind it for a second team (docs/decisions/integrations.md#repository-bindings).
 * @throws RESOURCE_NOT_FOUND team or project | PERMISSION_DENIED below admin, without proof of the repository, or bound to
 * another team | INVALID_REQUEST a project of another team | RESOURCE_CONFLICT already bound | INTERNAL_ERROR 503 no proof
 * available
 */
export async function bindRepository(ctx: Context, input: BindRepository): Promise<RepositoryBinding> {
  const { repo, team_id, sync_issues } = input;
  const project_id = input.project_id ?? null;
  await checkProof(ctx, team_id, repo);
  return inTransaction(ctx, async (ctx) => {
    const seat = await seatInTeam(ctx, team_id);
    authorizeBinding(ctx.actor, seat);
    // Issue sync creates tasks as the user who binds, who therefore needs write access.
    if (sync_issues) authorize('task.write', seat);
    if (project_id) await checkProject(ctx, project_id, team_id);
    // Serializes two teams that bind the same repository concurrently.
    await run(ctx.db, lockStatement, [repo]);
    const elsewhere = await ForgeRepository.query(ctx.db).select('repo').findOne({ repo }).whereNot({ team_id });
    if (elsewhere && !isInstanceAdmin(ctx.actor)) {
      throw forbidden('Another team has bound this repository; only an administrator can bind it to a second team');
    }
    const [row] = await run<BindingRow>(ctx.db, bindStatement, [repo, team_id, project_id, sync_issues, requireUser(ctx)]);
    if (!row) throw conflict('The repository is already bound');
    await recordChange(ctx, {
      team_id,
      project_id,
      feature: 'forge',
      action: 'create',
      severity: 'MEDIUM',
      entity_type: 'forge_repository',
      entity_id: row.binding_id,
      title: repo,
      summary: 'bound the repository',
      details: { repo, project_id, sync_issues },
    });
    return presentBinding(row);
  });
}
