/** Default page after sign-in. */
export const HOME = '/app';

/**
 * Returns `wanted` if it is a page of this app, otherwise the home page. Rejects tricks of open redirects: browsers read `\` as
 * `/`, skip tabs and line breaks, and take `//host` for another site.
 */
export function safePath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > 500 || !/^\/app(?:[/?][\w\-./?=&%~:@+,]*)?$/.test(wanted)) return HOME;
  const { pathname, search } = new URL(wanted, 'http://here.invalid');
  return pathname === HOME || pathname.startsWith(`${HOME}/`) ? `${pathname}${search}` : HOME;
}
