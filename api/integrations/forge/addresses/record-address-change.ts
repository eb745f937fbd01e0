import type { ForgeRepository } from '../../../../db/models/forge-repository.js';
import { recordChange } from '../../../platform/changes/record-change.js';
import type { Context } from '../../../platform/context.js';

const SUMMARIES = {
  make: ['rotate', 'HIGH', 'made an address for the deliveries of the repository'],
  rotate: ['rotate', 'HIGH', 'replaced the secret of the repository’s address'],
  revoke: ['revoke', 'HIGH', 'removed the address of the repository'],
  connect: ['update', 'MEDIUM', 'connected the repository by its first delivery'],
} as const;

/** Records a change of the address of a binding. The entry never holds the secret. */
export function recordAddressChange(
  ctx: Context,
  { team_id, project_id, binding_id, repo }: Pick<ForgeRepository, 'team_id' | 'project_id' | 'binding_id' | 'repo'>,
  change: keyof typeof SUMMARIES,
  details: Record<string, unknown> = {},
): Promise<string> {
  const [action, severity, summary] = SUMMARIES[change];
  return recordChange(ctx, {
    team_id,
    project_id,
    feature: 'forge',
    action,
    severity,
    entity_type: 'forge_repository',
    entity_id: binding_id,
    title: repo,
    summary,
    details: { repo, part: 'address', ...details },
  });
}
