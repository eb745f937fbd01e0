import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { User } from '../../auth/schema.js';
import { icon } from '../icons.js';
import type { Notice, View } from '../page.js';
import { createFormatter } from '../wording/formatter.js';
import type { StaticFiles } from './static-files.js';

export interface Shell {
  me: User | null;
  notice: Notice | undefined;
  /** Token for the page's forms. */
  csrf: string;
  /** Path of the page itself, for the navigation. */
  path: string;
  /** Approvals that wait for this person, for the navigation. */
  waiting: number;
  /** What this person was told and has not read yet. */
  unread: number;
}

export type Render = (view: View, shell: Shell) => string;

/** Templates are ours alone and escape what they print; nothing that a person wrote is ever compiled. */
export function createRenderer(files: StaticFiles): Render {
  const eta = new Eta({ views: fileURLToPath(new URL('../views/', import.meta.url)), autoEscape: true, cache: true });
  return ({ view, title, data }, shell) => {
    const common = { ...shell, title, icon, asset: files.addressOf, words: createFormatter(shell.me) };
    const body = eta.render(view, { problem: undefined, given: {}, ...data, ...common });
    return eta.render('layout', { ...common, body });
  };
}
