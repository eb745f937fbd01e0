import { z } from 'zod';
import { type LinkedInvitation, readLinkedInvitation } from '../../../identity/teams/invitations/invitation-link.js';
import type { Context } from '../../../platform/context.js';
import { safePath } from '../../server/safe-path.js';

/** Return address in URLs and forms; anything but a page of this app becomes the home page. */
export const Next = z.unknown().optional().transform(safePath);

/** Time zone that a script read in the browser; empty without scripts. The operation checks it. */
export const BrowserZone = z.string().max(100).catch('');

const LINK = /^\/app\/invitations\/([0-9a-f-]{36})\?key=([\w-]{1,100})$/;

/** Returns the invitation whose link a visitor followed; undefined without one. */
export async function invitationIn(ctx: Context, next: string): Promise<LinkedInvitation | undefined> {
  const [, id, key] = LINK.exec(next) ?? [];
  return id && key ? readLinkedInvitation(ctx, id, key) : undefined;
}
