import { safePath } from '../../server/safe-path.js';

export const itemPath = (itemId: string, anchor = ''): string => `/app/items/${encodeURIComponent(itemId)}${anchor}`;
export const projectPath = (projectId: string): string => `/app/projects/${projectId}`;

/** Returns the page that a form came from, if it is one of this app; otherwise `fallback`. */
export const backPath = (back: unknown, fallback: string): string => {
  const path = safePath(back);
  return path === back ? path : fallback;
};
