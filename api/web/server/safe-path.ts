/** Where people land when nothing else is asked for. */
export const HOME = '/app';

/**
 * A page of this app that somebody may be sent to after sign-in; anything else becomes the home page. Browsers read `\` as `/`,
 * skip tabs and line ends, and take `//host` for another site: none of that gets through.
 */
export function safePath(wanted: unknown): string {
  if (typeof wanted !== 'string' || wanted.length > 500 || !/^\/app(?:[/?][\w\-./?=&%~:@+,]*)?$/.test(wanted)) return HOME;
  const { pathname, search } = new URL(wanted, 'http://here.invalid');
  return pathname === HOME || pathname.startsWith(`${HOME}/`) ? `${pathname}${search}` : HOME;
}
