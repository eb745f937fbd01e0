import { z } from 'zod';
import { Id, Text, Timestamp } from '../../../platform/fields.js';
import { WebAddress } from '../../actions/web-address.js';

const POLICIES = ['allow', 'ask', 'deny'] as const;
export const UpstreamPath = z.object({ upstream_id: Id });
export const ToolPath = z.object({ upstream_id: Id, name: z.string() });
export const UpstreamQuery = z.object({ team_id: Id });

const OffersTasks = z.boolean().meta({
  description:
    'Whether a client that declares the extension `io.modelcontextprotocol/tasks` gets a task for a call that people decide about. Some clients declare it and then cannot read one.',
});

export const CreateUpstream = z
  .object({
    team_id: Id,
    slug: z
      .string()
      .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
      .meta({ description: 'Agents call it under this name; the system of its requests is `mcp.` and the slug' }),
    url: WebAddress,
    headers: z
      .record(Text.max(256), Text.max(2_000))
      .refine((headers) => Object.keys(headers).length <= 20, 'has more than 20 members')
      .default({})
      .meta({ description: 'Values name secrets of the team as `{{secret:NAME}}`' }),
    hold_seconds: z
      .int()
      .min(0)
      .max(25)
      .default(20)
      .meta({ description: 'How long a call waits for a yes before it answers `pending`' }),
    offers_tasks: OffersTasks.default(false),
  })
  .meta({ id: 'CreateUpstream' });
export type CreateUpstream = z.output<typeof CreateUpstream>;

export const UpdateUpstream = z
  .object({
    hold_seconds: z.int().min(0).max(25).optional(),
    is_active: z.boolean().optional(),
    offers_tasks: OffersTasks.optional(),
  })
  .meta({ id: 'UpdateUpstream' });
export type UpdateUpstream = z.output<typeof UpdateUpstream>;

export const PinTool = z
  .object({
    policy: z.enum(POLICIES),
    tool_hash: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .meta({ description: 'Of exactly the definition that was read' }),
  })
  .meta({ id: 'PinTool' });
export type PinTool = z.output<typeof PinTool>;

const Definition = z.record(z.string(), z.unknown());
export const Upstream = z
  .object({
    upstream_id: z.string(),
    team_id: z.string(),
    slug: z.string(),
    url: z.string(),
    headers: z.record(z.string(), z.string()),
    hold_seconds: z.int(),
    is_active: z.boolean(),
    offers_tasks: z.boolean(),
    checked_at: Timestamp.nullable(),
    created_by: z.string(),
    created_at: Timestamp,
    problem: z.string().nullable().meta({ description: 'Why its tools could not be read just now' }),
    tools: z.array(
      z.object({
        name: z.string(),
        policy: z.enum(POLICIES),
        state: z
          .enum(['pinned', 'new', 'changed', 'gone'])
          .meta({ description: '`new` and `changed` are not callable until they are pinned' }),
        definition: Definition.nullable().meta({ description: 'As agents read it' }),
        tool_hash: z.string().nullable(),
        seen: Definition.nullable().meta({ description: 'As the server shows it now, where that differs' }),
        seen_hash: z.string().nullable(),
        pinned_by: z.string().nullable(),
        pinned_at: Timestamp.nullable(),
      }),
    ),
  })
  .meta({ id: 'Upstream' });
export type Upstream = z.output<typeof Upstream>;
export const DeletedUpstream = z.object({ success: z.literal(true), upstream_id: z.string() }).meta({ id: 'DeletedUpstream' });
