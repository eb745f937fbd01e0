import { Eta } from 'eta';
import { MAIL_TEMPLATES, type MailContent } from './templates.js';

const eta = new Eta({ autoEscape: true, autoTrim: false, useWith: false });

/** One column, no images, no remote fonts, readable in dark mode. */
const HTML = /* html */ `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title><%= it.subject %></title></head>
<body style="margin:0;padding:32px 16px;background:#f4f5f7;font-family:-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<div style="max-width:480px;margin:0 auto;background:#fff;color:#1c2430;border-radius:12px;padding:32px;line-height:1.5;font-size:16px">
<div style="font-weight:700;letter-spacing:.02em;color:#0f6b5c;margin-bottom:24px">Assent</div>
<% for (const line of it.lines) { %><p style="margin:0 0 16px"><%= line %></p>
<% } %><% if (it.code) { %><p style="margin:24px 0;padding:16px;background:#f4f5f7;border-radius:8px;text-align:center;font:700 32px/1 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.25em"><%= it.code %></p>
<% } %><% if (it.button) { %><p style="margin:24px 0"><a href="<%= it.button.url %>" target="_blank" rel="noopener" style="display:inline-block;padding:12px 20px;background:#0f6b5c;color:#fff;border-radius:8px;text-decoration:none;font-weight:600"><%= it.button.label %></a></p>
<p style="margin:0 0 16px;font-size:13px;color:#5b6675;word-break:break-all"><%= it.button.url %></p>
<% } %><% for (const note of it.notes ?? []) { %><p style="margin:0 0 8px;font-size:13px;color:#5b6675"><%= note %></p>
<% } %></div></body></html>
`;

const asHtml = eta.compile(HTML);

const asText = ({ lines, code, button, notes = [] }: MailContent): string =>
  [...lines, code && `    ${code}`, button && `${button.label}: ${button.url}`, ...notes]
    .filter(Boolean)
    .join('\n\n')
    .concat('\n');

export interface RenderedMail {
  subject: string;
  text: string;
  html: string;
}

/** Names may contain any visible character, but no line breaks, which would start a header or a paragraph. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

/** Renders a template with the data stored with the email. @throws Error for an unknown template */
export function renderMail(template: string, data: unknown): RenderedMail {
  const compose = (MAIL_TEMPLATES as Record<string, ((data: never) => MailContent) | undefined>)[template];
  if (!compose) throw new Error(`Unknown mail template "${template}"`);
  const letter = compose(data as never);
  const { subject, lines, notes = [] } = letter;
  const content = { ...letter, subject: oneLine(subject), lines: lines.map(oneLine), notes: notes.map(oneLine) };
  return { subject: content.subject, text: asText(content), html: eta.render(asHtml, content) };
}
