/** Rewrites the marks within a line. No class of a pattern holds what begins the pattern: else hostile text takes time by the square of its length. */
const inline = (text: string): string =>
  text
    .replaceAll(/\{\{([^{}\n]+)\}\}/g, '`$1`')
    .replaceAll(/!([^!\s|]+)(?:\|[^!\n]*)?!/g, (whole, name: string) =>
      /\.\w{2,5}$/.test(name) ? `![${name.split('/').at(-1)}](${name})` : whole,
    )
    .replaceAll(/\[([^[\]|\n]+)\|(https?:\/\/[^[\]|\s]+)(?:\|[^[\]\n]*)?\]/g, '[$1]($2)')
    .replaceAll(/\[(https?:\/\/[^[\]|\s]+)\]/g, '<$1>')
    .replaceAll(/\[~([\w.@:-]+)\]/g, '$1')
    .replaceAll(/(^|[\s(])\*(?=\S)([^*\n]*[^*\s])\*(?=$|[\s).,:;!?])/g, '$1**$2**')
    .replaceAll(/(^|[\s(])-(?=[^\s-])([^-\n]*[^-\s])-(?=$|[\s).,:;!?])/g, '$1~~$2~~');

function line(text: string): string {
  const [, level, heading = ''] = /^\s*h([1-6])\.\s+(.*)$/.exec(text) ?? [];
  if (level !== undefined) return `${'#'.repeat(Number(level))} ${inline(heading)}`;
  const [, marks, item = ''] = /^\s*([*#-]{1,6})\s+(.*)$/.exec(text) ?? [];
  if (marks !== undefined && !/^-{2,}$/.test(marks)) {
    return `${'   '.repeat(marks.length - 1)}${marks.endsWith('#') ? '1.' : '-'} ${inline(item)}`;
  }
  const [, quoted] = /^\s*bq\.\s+(.*)$/.exec(text) ?? [];
  return quoted === undefined ? inline(text) : `> ${inline(quoted)}`;
}

/** Opens or closes a block that stays as it is; may name its language. */
const FENCE = /\{(code|noformat)(?::([^{}\n]*))?\}/;

/**
 * Returns the wiki markup of Jira as Markdown: headings, bold and deleted text, lists, quotes, links, pictures and code. What it does not know stays as it
 * is; nothing within code is changed.
 */
export function wikiToMarkdown(text: string): string {
  const parts = text.replaceAll('\r\n', '\n').split(/(?<!\{)(\{(?:code|noformat)(?::[^{}\n]*)?\})(?!\})/);
  let open: string | undefined;
  // Joined at the end: whether a long text ends with a line would be asked for each part of it.
  const written: string[] = [];
  const endsWith = (end: string): boolean => written.at(-1)?.endsWith(end) ?? false;
  const write = (more: string): void => {
    if (more !== '') written.push(more);
  };
  for (const part of parts) {
    const [, kind, options = ''] = FENCE.exec(part) ?? [];
    const isMark = kind !== undefined && part.startsWith('{') && part.endsWith('}') && !part.includes('\n');
    if (isMark && (open === undefined || open === kind)) {
      const language = /^[\w+#-]+$/.exec(options.split('|')[0] ?? '')?.[0] ?? '';
      const isStart = open === undefined;
      const isOnNewLine = (isStart && written.length === 0) || endsWith('\n');
      write(`${isOnNewLine ? '' : '\n'}\`\`\`${isStart ? language : ''}\n`);
      open = isStart ? kind : undefined;
    } else if (open === undefined) {
      const lines = part.replace(/^\n(?=.)/, endsWith('```\n') ? '' : '\n').split('\n');
      write(lines.map(line).join('\n'));
    } else write(part.replace(/^\n/, ''));
  }
  const whole = written.join('').trimEnd();
  return open === undefined ? whole : `${whole}\n\`\`\``;
}
