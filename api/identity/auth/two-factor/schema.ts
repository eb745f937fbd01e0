import { z } from 'zod';
import { Code, Password } from '../schema.js';

export const TwoFactor = z.object({ enabled: z.boolean(), recovery_codes_left: z.number().int() }).meta({ id: 'TwoFactor' });
export type TwoFactor = z.output<typeof TwoFactor>;

export const Enrol = z.object({ password: Password }).meta({ id: 'TwoFactorEnrol' });
export const Activate = z.object({ code: Code }).meta({ id: 'TwoFactorActivate' });
export const BothFactors = z.object({ password: Password, code: Code }).meta({ id: 'BothFactors' });

export const Enrolment = z.object({ secret: z.string(), otpauth_url: z.string() }).meta({ id: 'TwoFactorEnrolment' });
export type Enrolment = z.output<typeof Enrolment>;

export const Activated = z
  .object({ enabled: z.literal(true), recovery_codes: z.array(z.string()) })
  .meta({ id: 'TwoFactorActivated' });
export type Activated = z.output<typeof Activated>;

export const Disabled = z.object({ enabled: z.literal(false) }).meta({ id: 'TwoFactorDisabled' });
export const RecoveryCodes = z.object({ recovery_codes: z.array(z.string()) }).meta({ id: 'RecoveryCodes' });
