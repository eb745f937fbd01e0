const unescape = (text: string): string =>
  text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? undefined : unescape(value);
};

/** Returns what a browser would send of the builder's form on a page, without a button and the CSRF token. */
export function readFields(html: string): Record<string, string> {
  const form = /<form[^>]*id="builder"[^]*?<\/form>/.exec(html)?.[0] ?? '';
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input[^>]*>/g)) {
    const name = attribute(tag, 'name');
    if (!name || name === '_csrf' || (/type="checkbox"/.test(tag) && !/\schecked/.test(tag))) continue;
    fields[name] = attribute(tag, 'value') ?? '';
  }
  for (const [, tag = '', text = ''] of form.matchAll(/<textarea([^>]*)>([^]*?)<\/textarea>/g)) {
    fields[attribute(tag, 'name') ?? ''] = unescape(text.replace(/\r\n|\r/g, '\n').replace(/^\n/, '')).replaceAll('\n', '\r\n');
  }
  for (const [, tag = '', options = ''] of form.matchAll(/<select([^>]*)>([^]*?)<\/select>/g)) {
    const all = [...options.matchAll(/<option([^>]*)>([^<]*)/g)].map(([, own = '', text = '']) => ({
      value: attribute(own, 'value') ?? unescape(text),
      isSelected: /\sselected/.test(own),
    }));
    const chosen = all.find(({ isSelected }) => isSelected) ?? all[0];
    if (chosen) fields[attribute(tag, 'name') ?? ''] = chosen.value;
  }
  return fields;
}
