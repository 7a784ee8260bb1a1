/** The commands there are. */
export type CommandName = 'init' | 'serve' | 'doctor' | 'keygen' | 'demo';

const CONFIGURATION = `FILE is JSON with the fields of configureServer, chatLimit as { "points": 30, "durationSeconds": 60 } (with the package
rate-limiter-flexible); without one, the environment is read (A2A_URL, SERVICE_API_URL, …), to which --env adds.`;
const STATUS = `Exit status: 0 all is well, 1 something is to be fixed, 2 the command line is wrong.`;

/** What is said of all commands together. */
export const HELP: string = `agent-bff <command>

  init     writes a site with a chat to start from: Express, Koa or Next
  serve    serves the routes without a site of your own
  doctor   tries a configuration for real, and says what to fix
  keygen   makes a key pair for a service account
  demo     shows a site, an agent platform and a sign-in, all on this machine

agent-bff <command> --help says more of one, agent-bff --version which version this is.

${STATUS}`;

/** What is said of each command. */
export const COMMAND_HELP: Readonly<Record<CommandName, string>> = {
  init: `agent-bff init express|koa|next [folder]

Writes a site with a chat to start from, in TypeScript, into a new folder; default agent-site. It replaces no file.
Its .env leads to the demo: npx agent-bff demo --port 4000.

Exit status: 0 it is written, 1 a file is in the way, 2 the command line is wrong.`,
  serve: `agent-bff serve [--config FILE | --env FILE] [--port N] [--host H] [--base PATH] [--grace SECONDS]

Serves the routes without a site of your own. GET /healthz is its health: 503 once it is stopped, else 200.
On a loopback address all other requests must use a loopback name, publicUrl's host or one of allowedHosts.

  --config FILE    reads the configuration from here
  --env FILE       adds variables such as A2A_URL=https://agent.example; those that are set already stay
  --port N         default PORT of the environment, else 8080; 0 takes any free port
  --host H         default HOST of the environment, else 127.0.0.1; 0.0.0.0 for a container
  --base PATH      the path of the routes; default /api
  --grace SECONDS  how long open streams may go on when it is stopped; default 10

${CONFIGURATION}
Standard output gets one line of JSON per event, standard error the rest.

Exit status: 0 it was stopped, 1 it cannot serve, 2 the command line is wrong.`,
  doctor: `agent-bff doctor [--config FILE | --env FILE] [--surface ID] [--message TEXT] [--json]

Tries a configuration for real: keys and certificates, the identity provider, a token, the shared cache, the agent's card,
the project, the brand and the clocks. What rests on something that failed is not tried. Secrets are never printed.

  --config FILE    reads the configuration from here
  --env FILE       adds variables such as A2A_URL=https://agent.example; those that are set already stay
  --surface ID     also renders this surface; name:NAME for one by its name
  --message TEXT   also sends this message to the agent, and says how its response streams
  --json           prints the findings as JSON, whatever happens

${CONFIGURATION}

${STATUS}`,
  keygen: `agent-bff keygen [--out DIR] [--name N]

Makes a key pair for a service account, and never replaces one.

  --out DIR   default: the current folder
  --name N    default service-account, which makes service-account.pem and service-account.pub.pem

${STATUS}`,
  demo: `agent-bff demo [--port N] [--host H]

Shows a site, an agent platform and a sign-in, all on this machine and with keys of this run only.

  --port N   port of the site; default PORT of the environment, else 3000; 0 takes any free port
  --host H   default HOST of the environment, else 127.0.0.1; 0.0.0.0 for a container, whose port is called by localhost all the same

Exit status: 0 it was stopped, 1 it cannot run, 2 the command line is wrong.`,
};

/** The names of all commands. */
export const COMMANDS: readonly string[] = Object.keys(COMMAND_HELP);

/** The command of this name, if there is one. */
export function commandNamed(name: string): CommandName | undefined {
  return Object.hasOwn(COMMAND_HELP, name) ? (name as CommandName) : undefined;
}
