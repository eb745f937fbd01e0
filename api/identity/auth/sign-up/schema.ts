import { z } from 'zod';
import { MAIL_ADDRESS, Title } from '../../../platform/fields.js';
import { Code, NewPassword } from '../schema.js';

/** The address of a new account, whose form is validated. */
const NewEmail = z
  .string()
  .trim()
  .toLowerCase()
  .max(320)
  .regex(MAIL_ADDRESS, 'must be an email address')
  .refine((value) => value.isWellFormed(), 'must be an email address');

export const SignUpStart = z.object({ email: NewEmail, name: Title(100) }).meta({ id: 'SignUpStart' });
export type SignUpStart = z.output<typeof SignUpStart>;

export const SignUpVerify = z
  .object({ email: NewEmail, code: Code, name: Title(100), password: NewPassword })
  .meta({ id: 'SignUpVerify' });
export type SignUpVerify = z.output<typeof SignUpVerify>;
