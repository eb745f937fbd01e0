import { z } from 'zod';
import { SEATS } from '../../platform/access/access.js';
import { Id, MAIL_ADDRESS, Text, Timestamp, Title } from '../../platform/fields.js';

const Description = Text.max(500);
/** What the numbers of a team's tasks follow: HAR in HAR-12. */
const TeamKey = Text.trim()
  .toUpperCase()
  .regex(/^[A-Z][A-Z0-9]{0,5}$/, 'must be a letter, and up to five letters or digits');
const lowerAndUnique = (ids: string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))];
/** Ids of one request, duplicates included. More are refused before each is looked at. */
const MAX_SENT_IDS = 1_000;
/** The limit applies after removing duplicates; these ids are checked for their form, other ids are not. */
const MemberIds = z
  .array(z.guid('must be a UUID'))
  .max(MAX_SENT_IDS)
  .overwrite(lowerAndUnique)
  .pipe(z.array(z.string()).max(100))
  .meta({
    description:
      'At most 100; duplicates are dropped. They join as members, or are invited where the installation requires consent; unknown ids are returned in ignored_member_ids',
  });

export const CreateTeam = z
  .object({ name: Title(100), description: Description.nullish(), member_ids: MemberIds.nullish() })
  .meta({ id: 'CreateTeam' });
export type CreateTeam = z.output<typeof CreateTeam>;

export const UpdateTeam = z
  .object({
    name: Title(100).optional(),
    description: Description.nullable().optional(),
    key: TeamKey.optional().meta({ description: 'In any case. Tasks are then named by it: those of before too' }),
    decisions_signed_in: z
      .boolean()
      .optional()
      .meta({ description: 'true: only signed-in people decide the gates and plans of the team, no token' }),
  })
  .meta({ id: 'UpdateTeam' });
export type UpdateTeam = z.output<typeof UpdateTeam>;

export const TeamParams = z.object({ team_id: Id });
export const MemberParams = z.object({ team_id: Id, user_id: Id });

export const AddMember = z
  .object({
    user_id: Id.optional(),
    email: Text.trim().max(320).toLowerCase().regex(MAIL_ADDRESS, 'must be an email address').optional(),
    role: z.enum(SEATS).default('member'),
  })
  .refine(({ user_id, email }) => (user_id === undefined) !== (email === undefined), 'must have either user_id or email')
  .meta({ id: 'AddMember', oneOf: [{ required: ['user_id'] }, { required: ['email'] }] });
export type AddMember = z.output<typeof AddMember>;

export const ChangeRole = z.object({ role: z.enum(SEATS) }).meta({ id: 'ChangeRole' });

export const DeletedTeam = z.object({ success: z.literal(true), team_id: z.string() }).meta({ id: 'DeletedTeam' });

const teamFields = {
  team_id: z.string(),
  key: z.string().meta({ description: 'What the numbers of its tasks follow, `HAR` in `HAR-12`; other teams may have the same' }),
  name: z.string(),
  description: z.string().nullable(),
  decisions_signed_in: z.boolean(),
  member_ids: z.array(z.string()),
  created_by: z.string(),
  created_at: Timestamp,
};
export const TeamRecord = z.object(teamFields).meta({ id: 'Team' });
export type TeamRecord = z.output<typeof TeamRecord>;

export const CreatedTeam = z
  .object({
    ...teamFields,
    ignored_member_ids: z.array(z.string()).meta({ description: 'Ids of no user' }),
    invited_member_ids: z.array(z.string()).meta({
      description: 'Users who share no team with you and were invited; empty unless the installation requires consent',
    }),
  })
  .meta({ id: 'CreatedTeam' });
export type CreatedTeam = z.output<typeof CreatedTeam>;

export const Member = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string(),
    display_name: z.string(),
    username: z.string(),
    avatar: z.string(),
    role: z.enum(SEATS),
    is_guest: z.boolean(),
    joined_at: Timestamp,
  })
  .meta({ id: 'Member' });
export type Member = z.output<typeof Member>;

export const RemovedMember = z
  .object({ success: z.literal(true), removed: z.string().meta({ description: 'The user’s id' }), unassigned_tasks: z.int() })
  .meta({ id: 'RemovedMember' });

export const Conversation = z
  .object({ conversation_id: z.string(), title: z.string(), is_default: z.boolean(), created_at: Timestamp })
  .meta({ id: 'Conversation' });
export type Conversation = z.output<typeof Conversation>;
