/** Content of an email in plain text; `render.ts` produces text and HTML and escapes it. */
export interface MailContent {
  subject: string;
  /** Paragraphs before the code or the button. */
  lines: string[];
  /** Shown large. Never part of the subject, which previews and mail logs show. */
  code?: string;
  button?: { label: string; url: string };
  /** Small print after it. */
  notes?: string[];
}

interface Code {
  code: string;
  minutes: number;
}

/** Adds a word joiner after each dot, so that mail programs do not create links from another user's text. */
const unlinked = (text: string): string => text.replace(/[.:/@](?=\S)/gu, '$&\u2060');

const onlyOnce = (minutes: number) => `It works once, within ${minutes} minutes. Nobody at Assent will ever ask you for it.`;

/**
 * Every email by the name of its template. Each is a function of the stored data; new fields must be optional, because older emails
 * may still be queued.
 */
export const MAIL_TEMPLATES = {
  /** Omits the name: whoever typed it may not own the address, and could send texts to strangers. */
  'sign-up-code': ({ code, minutes }: Code): MailContent => ({
    subject: 'Your code to sign up',
    lines: ['Hello,', 'type this code to finish signing up:'],
    code,
    notes: [onlyOnce(minutes), 'You did not sign up? Then nothing happens: forget this mail.'],
  }),
  'sign-up-known': ({ url }: { url: string }): MailContent => ({
    subject: 'You have an account already',
    lines: ['Hello,', 'somebody, probably you, tried to sign up with this address. It has an account already.'],
    button: { label: 'Sign in', url },
    notes: ['You forgot the password? The page offers a new one. It was not you? Then nothing happens.'],
  }),
  'login-code': ({ name, code, minutes, ip, device }: Code & { name: string; ip: string; device: string }): MailContent => ({
    subject: 'Your code to sign in',
    lines: [`Hello ${name},`, 'you are signing in on a device that we do not know. Type this code there:'],
    code,
    notes: [
      onlyOnce(minutes),
      `The attempt came from ${ip} (${unlinked(device)}). It was not you? Somebody knows your password: change it.`,
    ],
  }),
  'password-code': ({ name, code, minutes }: Code & { name: string }): MailContent => ({
    subject: 'Your code for a new password',
    lines: [`Hello ${name},`, 'type this code to choose a new password:'],
    code,
    notes: [onlyOnce(minutes), 'You did not ask for it? Your password is as it was.'],
  }),
  'password-unknown': ({ url }: { url: string }): MailContent => ({
    subject: 'No account with this address',
    lines: [
      'Hello,',
      'somebody, probably you, asked for a new password. There is no account with this address that could sign in.',
    ],
    button: { label: 'Sign in with another address', url },
    notes: ['It was not you? Then nothing happens: forget this mail.'],
  }),
  'password-changed': ({ name }: { name: string }): MailContent => ({
    subject: 'Your password was changed',
    lines: [
      `Hello ${name},`,
      'the password of your account was changed just now. Other sign-ins ended, and no device is trusted any more.',
    ],
    notes: ['It was not you? Ask for a new password on the page to sign in, and tell your administrator.'],
  }),
  'account-locked': ({ name, url, minutes, ip }: { name: string; url: string; minutes: number; ip: string }): MailContent => ({
    subject: 'Your account is locked for a while',
    lines: [
      `Hello ${name},`,
      `somebody, last from ${ip}, failed to sign in to your account many times. For ${minutes} minutes nobody can, with these exceptions: ` +
        'devices that you trust, and access tokens, go on as before.',
    ],
    button: { label: 'It was me: unlock', url },
    notes: ['It was not you? Leave it locked, and turn on two-factor sign-in.'],
  }),
  'two-factor-changed': ({ name, on }: { name: string; on: boolean }): MailContent => ({
    subject: on ? 'Two-factor sign-in is on' : 'Two-factor sign-in is off',
    lines: [`Hello ${name},`, `two-factor sign-in of your account was turned ${on ? 'on' : 'off'} just now.`],
    notes: ['It was not you? Change your password, and tell your administrator.'],
  }),
  'team-invitation': ({
    team,
    by,
    role,
    days,
    url,
  }: Record<'team' | 'by' | 'role' | 'url', string> & { days: number }): MailContent => ({
    subject: `You are invited to ${unlinked(team)}`,
    lines: [
      'Hello,',
      `${unlinked(by)} invites you to join the team ${unlinked(team)} as ${role}. Sign in, or sign up with this email address, and accept.`,
    ],
    button: { label: 'Look at the invitation', url },
    notes: [`The invitation lapses after ${days} days. You do not know why you got it? Then nothing happens: forget this mail.`],
  }),
  notice: ({ name, title, message, url }: Record<'name' | 'title' | 'message' | 'url', string>): MailContent => ({
    subject: title,
    lines: [`Hello ${name},`, message],
    button: { label: 'Have a look', url },
    notes: ['The link asks you to sign in; it lets nobody do anything by itself.'],
  }),
  impersonated: ({ name, admin, from, until }: Record<'name' | 'admin' | 'from' | 'until', string>): MailContent => ({
    subject: 'An administrator acted in your name',
    lines: [
      `Hello ${name},`,
      `${admin}, who administers this installation, worked with your account for a while: from ${from}, until ${until} at the latest.`,
    ],
    notes: ['Whatever was done is in the audit log under both names. You did not expect it? Ask them.'],
  }),
  'token-expires': ({
    name,
    token,
    prefix,
    at,
    url,
  }: Record<'name' | 'token' | 'prefix' | 'at' | 'url', string>): MailContent => ({
    subject: `The token “${token}” expires soon`,
    lines: [`Hello ${name},`, `your access token “${token}” (${prefix}) works until ${at}. Whatever uses it stops then.`],
    button: { label: 'Make a new one', url },
    notes: ['You do not need it any more? Then nothing is to be done.'],
  }),
  'gates-wait': ({
    name,
    team,
    count,
    automations,
    url,
  }: Record<'name' | 'team' | 'url', string> & { count: number; automations: string[] }): MailContent => ({
    subject: `${count === 1 ? 'A run waits' : `${count} runs wait`} for a decision in ${team}`,
    lines: [
      `Hello ${name},`,
      `somebody who could have decided has left ${team}. You can: ${automations.join(', ')}${count > automations.length ? ' and more' : ''}.`,
    ],
    button: { label: 'Look at what waits', url },
  }),
};

export type Template = keyof typeof MAIL_TEMPLATES;
/** Data of a template. */
export type MailData<T extends Template> = Parameters<(typeof MAIL_TEMPLATES)[T]>[0];
