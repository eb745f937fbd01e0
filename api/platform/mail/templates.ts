/** Content of an email in plain text; `render.ts` produces text and HTML and escapes it. */
export interface MailContent {
  subject: string;
  /** Paragraphs before the code or the button. */
  lines: string[];
  /** Shown large. Never part of the subject, which previews and mail logs show. */
  code?: string;
  button?: { label: string; url: string };
  /** Small print at the end. */
  notes?: string[];
}

interface Code {
  code: string;
  minutes: number;
}

/** Words for the kinds of notifications whose emails were held back. */
const HELD_KINDS: Readonly<Record<string, string>> = {
  message: 'Message of an automation',
  approval_requested: 'Approval requested',
  approval_reminder: 'Approval reminder',
  automation_disabled: 'Automation disabled',
  plan_staged: 'Plan staged',
  plan_reminder: 'Plan reminder',
  member_added: 'Added to a team',
};

/** Adds a word joiner after each dot, so that mail programs do not create links from another user's text. */
const unlinked = (text: string): string => text.replace(/[.:/@](?=\S)/gu, '$&\u2060');

const onlyOnce = (minutes: number) => `Expires in ${minutes} minutes. Never share it.`;

/**
 * Every email by the name of its template. Each is a function of the stored data; new fields must be optional, because older emails
 * may still be queued.
 */
export const MAIL_TEMPLATES = {
  /** Omits the name: the user who typed it may not own the address, and could send texts to strangers. */
  'sign-up-code': ({ code, minutes }: Code): MailContent => ({
    subject: 'Your sign-up code',
    lines: ['Hello,', 'enter this code to finish signing up:'],
    code,
    notes: [onlyOnce(minutes), 'If this wasn’t you, ignore this email.'],
  }),
  'sign-up-known': ({ url }: { url: string }): MailContent => ({
    subject: 'You already have an account',
    lines: ['Hello,', 'someone, probably you, tried to sign up with this address, which already has an account.'],
    button: { label: 'Sign in', url },
    notes: ['Forgot your password? Reset it on the sign-in page. If this wasn’t you, ignore this email.'],
  }),
  'login-code': ({ name, code, minutes, ip, device }: Code & { name: string; ip: string; device: string }): MailContent => ({
    subject: 'Your sign-in code',
    lines: [`Hello ${name},`, 'we don’t recognize the device you are signing in on. Enter this code there:'],
    code,
    notes: [onlyOnce(minutes), `The attempt came from ${ip} (${unlinked(device)}). Not you? Change your password.`],
  }),
  'password-code': ({ name, code, minutes }: Code & { name: string }): MailContent => ({
    subject: 'Your password reset code',
    lines: [`Hello ${name},`, 'enter this code to choose a new password:'],
    code,
    notes: [onlyOnce(minutes), 'If this wasn’t you, ignore this email. Your password is unchanged.'],
  }),
  'password-unknown': ({ url }: { url: string }): MailContent => ({
    subject: 'No account with this address',
    lines: ['Hello,', 'someone, probably you, requested a password reset. No active account exists for this address.'],
    button: { label: 'Sign in with another email', url },
    notes: ['If this wasn’t you, ignore this email.'],
  }),
  'password-changed': ({ name }: { name: string }): MailContent => ({
    subject: 'Your password was changed',
    lines: [`Hello ${name},`, 'your password was changed. All other sessions ended, and no device is trusted anymore.'],
    notes: ['Not you? Reset it and contact your administrator.'],
  }),
  'account-locked': ({ name, url, minutes, ip }: { name: string; url: string; minutes: number; ip: string }): MailContent => ({
    subject: 'Your account is temporarily locked',
    lines: [
      `Hello ${name},`,
      `there were too many failed sign-ins to your account, the last one from ${ip}. ` +
        `Sign-in is blocked for ${minutes} minutes; trusted devices and tokens still work.`,
    ],
    button: { label: 'Unlock my account', url },
    notes: ['Not you? Leave it locked and enable two-factor authentication.'],
  }),
  'two-factor-changed': ({ name, on }: { name: string; on: boolean }): MailContent => ({
    subject: `Two-factor authentication ${on ? 'enabled' : 'disabled'}`,
    lines: [`Hello ${name},`, `two-factor authentication was ${on ? 'enabled' : 'disabled'} for your account.`],
    notes: ['Not you? Change your password and contact your administrator.'],
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
      `${unlinked(by)} invited you to join the team ${unlinked(team)} as ${role}. Sign in or sign up with this email address to accept.`,
    ],
    button: { label: 'View invitation', url },
    notes: [`The invitation expires in ${days} days. If you did not expect it, ignore this email.`],
  }),
  notice: ({
    name,
    title,
    message,
    details = [],
    url,
  }: Record<'name' | 'title' | 'message' | 'url', string> & { details?: string[] }): MailContent => ({
    subject: unlinked(title),
    // Details quote events: an address in them is text and never a link.
    lines: [`Hello ${name},`, message, ...details.map(unlinked)],
    button: { label: 'View', url },
  }),
  impersonated: ({ name, admin, from, until }: Record<'name' | 'admin' | 'from' | 'until', string>): MailContent => ({
    subject: 'An administrator used your account',
    lines: [`Hello ${name},`, `the administrator ${admin} impersonated you from ${from} until ${until} at the latest.`],
    notes: ['The audit log records every action under both names. Questions? Contact them.'],
  }),
  'token-expires': ({
    name,
    token,
    prefix,
    at,
    url,
  }: Record<'name' | 'token' | 'prefix' | 'at' | 'url', string>): MailContent => ({
    subject: `The token “${token}” expires soon`,
    lines: [
      `Hello ${name},`,
      `your access token “${token}” (${prefix}) expires at ${at}. Clients that use it stop working then.`,
    ],
    button: { label: 'Create a token', url },
    notes: ['Otherwise ignore this email.'],
  }),
  'plans-wait': ({
    name,
    subject,
    plans,
    more,
    url,
  }: Record<'name' | 'subject' | 'url', string> & { plans: string[]; more: number }): MailContent => ({
    subject,
    lines: [
      `Hello ${name},`,
      'these proposals wait for your confirmation. Nothing changes before that.',
      ...plans.map(unlinked),
      ...(more > 0 ? [`And ${more} more.`] : []),
    ],
    button: { label: 'Review plans', url },
    notes: ['You get this email at most once a morning, when there is something new.'],
  }),
  'held-mails': ({
    name,
    held,
    kinds,
    url,
  }: {
    name: string;
    held: number;
    kinds: Record<string, number>;
    url: string;
  }): MailContent => ({
    subject: `${held} more ${held === 1 ? 'notification' : 'notifications'}`,
    lines: [
      `Hello ${name},`,
      'you received many emails from your teams within an hour, so these were held back. All of them are in your inbox:',
      ...Object.entries(kinds).map(([kind, count]) => `${count} × ${HELD_KINDS[kind] ?? 'Notification'}`),
    ],
    button: { label: 'Open inbox', url },
    notes: ['Sign-in codes and security emails are never held back.'],
  }),
  notices: ({
    name,
    total,
    messages,
    subject,
    url,
  }: Record<'name' | 'url', string> & { total: number; messages: string[]; subject?: string }): MailContent => ({
    // Of one thing, what it is.
    subject: total === 1 ? unlinked(subject ?? 'One thing for you') : `${total} things for you`,
    // Messages quote titles and comments: an address in them is text and never a link.
    lines: [
      `Hello ${name},`,
      'you have not read this yet:',
      ...messages.map(unlinked),
      ...(total > messages.length ? [`And ${total - messages.length} more.`] : []),
    ],
    button: { label: 'Open inbox', url },
    notes: ['Your inbox lets you choose whether such emails come soon, once a day or never.'],
  }),
  'gates-wait': ({
    name,
    team,
    count,
    automations,
    url,
  }: Record<'name' | 'team' | 'url', string> & { count: number; automations: string[] }): MailContent => ({
    subject: `${count === 1 ? 'A run is waiting' : `${count} runs are waiting`} for approval in ${team}`,
    lines: [
      `Hello ${name},`,
      `an approver left ${team}. You can decide: ${automations.join(', ')}${count > automations.length ? ' and more' : ''}.`,
    ],
    button: { label: 'Review approvals', url },
  }),
};

export type Template = keyof typeof MAIL_TEMPLATES;
/** Data of a template. */
export type MailData<T extends Template> = Parameters<(typeof MAIL_TEMPLATES)[T]>[0];
