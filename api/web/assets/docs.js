/* Opens the API document in Swagger UI, ready to try: signed in with the demo token, with ids of the demo data as examples. */
import { resolveSubtree } from './resolve.js';

const root = document.getElementById('docs');
const FRESH_KEY = 'new for each call';

// Follows the system's color scheme, as the app does.
const dark = matchMedia('(prefers-color-scheme: dark)');
const applyScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', applyScheme);
applyScheme();

/** Returns the token that the reader entered on an earlier visit. */
function storedToken() {
  try {
    return JSON.parse(localStorage.getItem('authorized')).bearer.value;
  } catch {
    return undefined;
  }
}

/** Returns a readable record of the token's owner by the name of each id; empty if the token is not accepted. */
async function findIds(token) {
  const ids = {};
  const read = async (path) => {
    const response = await fetch(path, { headers: { Authorization: `Bearer ${token}` } });
    return response.ok ? response.json() : undefined;
  };
  const first = async (id, path) => {
    const found = await read(path);
    const [record] = Array.isArray(found) ? found : [];
    if (record) ids[id] = record[id];
  };
  const me = await read('/api/auth/me');
  if (!me) return ids;
  ids.user_id = me.user_id;
  ids.team_id = me.teams[0]?.team_id;
  if (!ids.team_id) return ids;
  await Promise.all([
    first('project_id', `/api/projects?team_id=${ids.team_id}`),
    first('automation_id', `/api/automations?team_id=${ids.team_id}`),
  ]);
  if (ids.project_id) await first('task_id', `/api/tasks?project_id=${ids.project_id}`);
  if (ids.automation_id) await first('run_id', `/api/automations/${ids.automation_id}/runs?limit=1`);
  return ids;
}

/** Replaces the invented ids of a request's example. */
function withIds(value, ids) {
  if (Array.isArray(value)) return value.map((item) => withIds(item, ids));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [
    key,
    typeof inner === 'string' && ids[key] ? ids[key] : withIds(inner, ids),
  ]);
  return Object.fromEntries(entries);
}

function prepareParameter(parameter, ids) {
  const { name, in: place, required } = parameter;
  if (name === 'Idempotency-Key') parameter.example = FRESH_KEY;
  // An invented ETag would make every change a conflict.
  else if (place === 'header') {
    delete parameter.example;
    if (parameter.schema) delete parameter.schema.example;
  } else if (required && ids[name]) parameter.example = ids[name];
}

function prepare(spec, ids) {
  // The page calls the host that it came from, whatever name the reader gave it: its policy allows no other.
  spec.servers = [{ url: '/' }];
  for (const operations of Object.values(spec.paths)) {
    for (const { parameters = [], requestBody } of Object.values(operations)) {
      for (const parameter of parameters) prepareParameter(parameter, ids);
      const media = requestBody?.content?.['application/json'];
      if (media?.example) media.example = withIds(media.example, ids);
    }
  }
  return spec;
}

/** Keeps the operations whose method, path, id, summary or tag contains every word of the filter. */
function filterOperations(tagged, phrase) {
  const words = phrase.toLowerCase().split(/\s+/);
  const joinText = (tag, entry) =>
    [
      tag,
      entry.get('method'),
      entry.get('path'),
      entry.getIn(['operation', 'operationId']),
      entry.getIn(['operation', 'summary']),
    ]
      .join(' ')
      .toLowerCase();
  return tagged
    .map((group, tag) =>
      group.update('operations', (entries) =>
        entries.filter((entry) => words.every((word) => joinText(tag, entry).includes(word))),
      ),
    )
    .filter((group) => group.get('operations').size > 0);
}

const isFiltered = (layoutSelectors) => {
  const filter = layoutSelectors.currentFilter();
  return typeof filter === 'string' && filter !== '';
};

/** Says what the filter finds; its own text promises less. */
const namedFilter = (FilterContainer, { React }) =>
  function NamedFilter(props) {
    React.useEffect(() => {
      const box = root.querySelector('.operation-filter-input');
      box?.setAttribute('placeholder', 'Filter operations: a path, a method or a word');
      box?.setAttribute('aria-label', 'Filter operations');
    });
    return React.createElement(FilterContainer, props);
  };

/** Leaves out the requests of webhooks while a filter is set: it looks for operations to try. */
const filteredWebhooks = (Webhooks, { React, layoutSelectors }) =>
  function FilteredWebhooks(props) {
    return isFiltered(layoutSelectors) ? null : React.createElement(Webhooks, props);
  };

/** Opens the groups that a filter leaves. Without one all are closed: drawing 200 operations takes a second. */
const filteredTag = (OperationTag, { React, layoutSelectors, getConfigs }) =>
  function FilteredTag(props) {
    const docExpansion = isFiltered(layoutSelectors) ? 'list' : 'none';
    return React.createElement(OperationTag, { ...props, getConfigs: () => ({ ...getConfigs(), docExpansion }) });
  };

/** Draws a description again only where it differs: Swagger UI makes and cleans the HTML of all that are in sight at every change of any. */
const keptMarkdown = (Markdown, { React }) =>
  React.memo(Markdown, (one, other) => one.source === other.source && one.className === other.className);

/** Swagger UI reads the text as YAML, which takes ten times as long. */
const parseToJson =
  (_original, { specActions }) =>
  (text) =>
    specActions.updateJsonSpec(JSON.parse(text));

/** Gives each POST a key of its own, unless the reader typed one. */
function addKey(request) {
  if (request.headers['Idempotency-Key'] === FRESH_KEY) {
    request.headers['Idempotency-Key'] = crypto.getRandomValues(new Uint32Array(4)).join('-');
  }
  return request;
}

async function open() {
  const stored = storedToken();
  const token = stored ?? root.dataset.token;
  const [spec, ids] = await Promise.all([fetch('/api/openapi.json').then((response) => response.json()), findIds(token)]);
  const ui = globalThis.SwaggerUIBundle({
    spec: prepare(spec, ids),
    dom_id: '#docs',
    validatorUrl: null,
    persistAuthorization: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    filter: true,
    plugins: [
      {
        fn: { opsFilter: filterOperations, resolveSubtree },
        wrapComponents: {
          FilterContainer: namedFilter,
          Webhooks: filteredWebhooks,
          OperationTag: filteredTag,
          Markdown: keptMarkdown,
        },
        statePlugins: { spec: { wrapActions: { parseToJson } } },
      },
    ],
    requestInterceptor: addKey,
    onComplete() {
      if (!stored && ids.user_id) ui.preauthorizeApiKey('bearer', token);
    },
  });
}

await open();
