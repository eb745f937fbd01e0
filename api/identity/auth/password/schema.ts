import { z } from 'zod';
import { Code, Email, NewPassword, Password } from '../schema.js';

export const Forgot = z.object({ email: Email }).meta({ id: 'PasswordForgot' });
export const Reset = z.object({ email: Email, code: Code, new_password: NewPassword }).meta({ id: 'PasswordReset' });
export type Reset = z.output<typeof Reset>;
export const Change = z.object({ current_password: Password, new_password: NewPassword }).meta({ id: 'PasswordChange' });
export type Change = z.output<typeof Change>;
