import { fileURLToPath } from 'node:url';
import { Eta } from 'eta';
import type { User } from '../../identity/auth/schema.js';
import { icon } from '../icons.js';
import { TASK_ACTS } from '../navigation/keys.js';
import { navigationOf } from '../navigation/places.js';
import type { Notice, View } from '../page.js';
import { createFormatter } from '../wording/formatter.js';
import { plainMessage } from '../wording/plain-message.js';
import type { StaticFiles } from './static-files.js';

export interface Shell {
  me: User | null;
  notice: Notice | undefined;
  /** What the button of the notice sends; undefined if it takes nothing back. */
  undo: string | undefined;
  /** CSRF token of the page's forms. */
  csrf: string;
  /** Path of the page, for the navigation. */
  path: string;
  /** Path and query of the page. */
  address: string;
  /** Pending approvals of this user, for the navigation. */
  waiting: number;
  /** Unread notifications of this user. */
  unread: number;
}

export type Render = (view: View, shell: Shell) => string;

/** Creates the renderer. Templates are our files and escape their output; user input is never compiled. */
export function createRenderer(files: StaticFiles): Render {
  const eta = new Eta({ views: fileURLToPath(new URL('../views/', import.meta.url)), autoEscape: true, cache: true });
  return ({ view, title, data, isFragment, scripts = [], noticePlaces = [] }, shell) => {
    const isNoticeInside = noticePlaces.some((place) => place === shell.notice?.at);
    const plain = (message: string): string => plainMessage(message, shell.me);
    const common = { ...shell, title, isNoticeInside, icon, plain, asset: files.buildAddress, words: createFormatter(shell.me) };
    const body = eta.render(view, { problem: undefined, given: {}, ...data, ...common });
    if (isFragment) return body;
    return eta.render('layout', {
      ...common,
      body,
      scripts,
      navigation: shell.me && navigationOf(shell.me, shell.path),
      taskActs: TASK_ACTS,
    });
  };
}
