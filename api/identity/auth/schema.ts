import { z } from 'zod';
import { Id, Text, TimeZone, Timestamp, Title } from '../../platform/fields.js';
import { INSTANCE_ROLES } from '../../platform/access/actor.js';

/** As claimed; the operation verifies it and gives one text for every reason. */
export const Email = z.string().max(320);
export const Password = z.string().max(1024);
/** Six digits, or a recovery code; spaces are ignored. */
export const Code = z.string().max(40);
/** A new password: 12 to 128 code points. */
export const NewPassword = Text.min(12).max(128);

export const Login = z
  .object({ email: Email, password: Password, device_token: z.string().max(200).optional() })
  .meta({ id: 'Login' });
export type Login = z.output<typeof Login>;

/** The response to a challenge. A challenge has no id, so the password is sent again. */
export const LoginStep = Login.extend({ code: Code, trust_device: z.boolean().default(false) }).meta({ id: 'LoginStep' });
export type LoginStep = z.output<typeof LoginStep>;

const Preferences = z.object({
  timezone: z.string(),
  locale: z.string(),
  week_start: z.string(),
  theme: z.string(),
  default_team_id: z.string().nullable(),
});

export const User = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.enum(INSTANCE_ROLES),
    has_password: z.boolean(),
    username: z.string(),
    display_name: z.string(),
    avatar: z.string(),
    plan: z.enum(['free', 'team', 'scale']),
    entitlements: z.array(z.string()),
    two_factor_enabled: z.boolean(),
    status: z.enum(['active', 'suspended', 'deprovisioned']),
    teams: z.array(z.object({ team_id: z.string(), key: z.string(), name: z.string(), role: z.string() })),
    preferences: Preferences,
    impersonated_by: z.string().nullable(),
    auth_method: z.enum(['jwt', 'pat']),
  })
  .meta({ id: 'User' });
export type User = z.output<typeof User>;

/** `device_token` is returned for `trust_device`; a client that stores it has a trusted device for 30 days. */
export const SignedIn = z
  .object({
    token: z.string(),
    requires_2fa: z.literal(false),
    requires_login_otp: z.literal(false),
    user: User,
    device_token: z.string().optional(),
  })
  .meta({ id: 'SignedIn' });
export type SignedIn = z.output<typeof SignedIn>;

/** A token, or one of two challenges without one; clients check for `token`. */
export const LoginResult = z
  .union([
    SignedIn,
    z.object({ requires_2fa: z.literal(true), requires_login_otp: z.literal(false), email: z.string() }),
    z.object({ requires_2fa: z.literal(false), requires_login_otp: z.literal(true), email: z.string() }),
  ])
  .meta({ id: 'LoginResult' });
export type LoginResult = z.output<typeof LoginResult>;

export const MessageResponse = z.object({ message: z.string() }).meta({ id: 'Said' });
export const Succeeded = z.object({ success: z.literal(true) }).meta({ id: 'Succeeded' });

const isLocale = (tag: string): boolean => {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
};

const isHttps = (address: string): boolean => URL.canParse(address) && new URL(address).protocol === 'https:';

const THEMES = ['auto', 'light', 'dark'] as const;

/** Fields that users may change about themselves; the email address is not one. */
export const MeUpdate = z
  .object({
    name: Title(100),
    username: z
      .string()
      .regex(
        /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,59}$/,
        'must hold only letters, digits and . _ - (at most 60), and not begin with . or -',
      ),
    display_name: Title(100),
    avatar: z.string().max(2000).refine(isHttps, 'must be an https address'),
    preferences: z
      .object({
        timezone: TimeZone,
        locale: z.string().max(35).refine(isLocale, 'must be a locale, such as en-US'),
        week_start: z.enum(['monday', 'saturday', 'sunday']),
        theme: z.enum(THEMES).meta({ description: 'Colours of the web app; `auto`: those of the system' }),
        default_team_id: Id.nullable(),
      })
      .partial(),
  })
  .partial()
  .meta({ id: 'MeUpdate' });
export type MeUpdate = z.output<typeof MeUpdate>;

/** A session or device as its owner sees it. */
export const ClientInfo = z.object({
  ip_address: z.string().nullable(),
  user_agent: z.string().nullable(),
  created_at: Timestamp,
  last_seen_at: Timestamp,
  current: z.boolean(),
});
