import { z } from 'zod';

export const Login = z
  .object({ email: z.string().max(320), password: z.string().max(1024), device_token: z.string().max(200).optional() })
  .meta({ id: 'Login' });
export type Login = z.output<typeof Login>;

export const User = z
  .object({
    user_id: z.string(),
    email: z.string(),
    name: z.string(),
    role: z.enum(['user', 'admin']),
    has_password: z.boolean(),
    username: z.string(),
    display_name: z.string(),
    avatar: z.string(),
    plan: z.enum(['free', 'team', 'scale']),
    entitlements: z.array(z.string()),
    two_factor_enabled: z.boolean(),
    status: z.enum(['active', 'suspended', 'deprovisioned']),
    teams: z.array(z.object({ team_id: z.string(), name: z.string(), role: z.string() })),
    preferences: z.object({
      timezone: z.string(),
      locale: z.string(),
      week_start: z.string(),
      default_team_id: z.string().nullable(),
    }),
    impersonated_by: z.string().nullable(),
    auth_method: z.enum(['jwt', 'pat']),
  })
  .meta({ id: 'User' });
export type User = z.output<typeof User>;

/** A token, or one of two challenges without one: clients look for `token` (contract, section 4). */
export const LoginResult = z
  .union([
    z.object({ token: z.string(), requires_2fa: z.literal(false), requires_login_otp: z.literal(false), user: User }),
    z.object({ requires_2fa: z.literal(true), requires_login_otp: z.literal(false), email: z.string() }),
    z.object({ requires_2fa: z.literal(false), requires_login_otp: z.literal(true), email: z.string() }),
  ])
  .meta({ id: 'LoginResult' });
export type LoginResult = z.output<typeof LoginResult>;
