import { z } from 'zod';
import { Flag, Id, Text } from '../../platform/fields.js';
import { MAX_PATTERN_LENGTH, normalizeHostPattern } from '../../platform/http-client/host-patterns.js';

const MAX_ALLOWED_HOSTS = 20;
/** Maximum size of a value in bytes. */
const MAX_VALUE = 65_536;

/** A wrong length is 422 here; wrong characters are 400 in the operation (docs/decisions/platform.md#status-400-or-422). */
const Name = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .refine((name) => name.isWellFormed(), 'contains characters that cannot be stored')
  .meta({
    description: 'Actions refer to it as `{{secret:NAME}}`; no braces, slashes or control characters',
    example: 'DEPLOY_TOKEN',
  });

const AllowedHost = z
  .string()
  .trim()
  .max(MAX_PATTERN_LENGTH)
  .refine((text) => normalizeHostPattern(text) !== null, 'must be a host, host:port or *.host, without scheme or path')
  .overwrite((text) => normalizeHostPattern(text) ?? text)
  .meta({ example: 'api.example.com' });

export const ListSecrets = z.object({ team_id: Id });
export const SaveSecret = z
  .object({
    team_id: Id,
    name: Name,
    value: Text.min(1)
      .refine((value) => Buffer.byteLength(value) <= MAX_VALUE, `is longer than ${MAX_VALUE} bytes`)
      .meta({ description: 'At most 64 kB; never returned', writeOnly: true }),
    allowed_hosts: z
      .array(AllowedHost)
      .overwrite((hosts) => [...new Set(hosts)])
      .max(MAX_ALLOWED_HOSTS)
      .nullish()
      .meta({
        description:
          'Hosts it may be sent to: `host` (any port), `host:port` or `*.host` (subdomains only). ' +
          'With hosts, automations of every member may use it; with `[]`, only those that a team admin saves and starts. If omitted, the stored hosts stay',
      }),
  })
  .meta({ id: 'SaveSecret' });
export type SaveSecret = z.output<typeof SaveSecret>;

export const SecretParams = z.object({ name: z.string().trim() });
export const DeleteSecret = z.object({
  team_id: Id,
  force: Flag.meta({ description: 'Delete although automations refer to it; their actions then fail with `secret_missing`' }),
});

export const SecretList = z
  .object({
    team_id: z.string(),
    secrets: z.array(z.string()),
    details: z.array(z.object({ name: z.string(), allowed_hosts: z.array(z.string()) })),
  })
  .meta({ id: 'SecretList' });
export type SecretList = z.output<typeof SecretList>;
export const SavedSecret = z.object({ saved: z.literal(true), name: z.string() }).meta({ id: 'SavedSecret' });
export const DeletedSecret = z.object({ deleted: z.literal(true), name: z.string() }).meta({ id: 'DeletedSecret' });
