import { cancelTask, streamMessage } from '/agent.js';

const element = (id) => document.getElementById(id);
const conversation = element('conversation');
const composer = element('composer');
const input = element('message');
const sendButton = element('send');
const stopButton = element('stop');
const errorRegion = element('error');
const credentialSwitch = element('break-credential');

/** What the agent needs to see the messages as one conversation; `taskId` only while it waits for an answer. */
const conversationState = { contextId: undefined, taskId: undefined };
/** The answer being streamed, or null: `{ taskId, abort }`. */
let running = null;

async function send(text) {
  const abort = new AbortController();
  running = { taskId: undefined, abort };
  showError('');
  element('welcome')?.remove();
  addBubble('visitor', text);
  const answer = addBubble('agent', '');
  answer.setAttribute('aria-busy', 'true');
  updateControls();

  try {
    let isComplete = false;
    for await (const event of streamMessage(text, { ...conversationState, signal: abort.signal })) {
      isComplete = takeEvent(event, answer);
    }
    if (!isComplete) throw new Error('The answer broke off. Please try again.');
  } catch (error) {
    // A task that failed once is not asked again: the next message starts a new one.
    conversationState.taskId = undefined;
    if (abort.signal.aborted) addNote(answer, 'Stopped.');
    else
      showError(error instanceof TypeError ? 'The connection to the site was lost. Please try again.' : error.message);
  } finally {
    if (answer.textContent === '') answer.remove();
    answer.removeAttribute('aria-busy');
    running = null;
    updateControls();
    input.focus();
  }
}

/** Shows one event of the stream; true when it was the last word on this message. */
function takeEvent({ task, artifactUpdate, statusUpdate, message }, answer) {
  if (message) {
    write(answer, message.parts);
    return true;
  }
  if (task) {
    running.taskId = task.id;
    conversationState.contextId = task.contextId;
    return false;
  }
  if (artifactUpdate) write(answer, artifactUpdate.artifact.parts);
  if (!statusUpdate) return false;

  const { state, message: words } = statusUpdate.status;
  const needsInput = state === 'TASK_STATE_INPUT_REQUIRED';
  conversationState.taskId = needsInput ? statusUpdate.taskId : undefined;
  if (needsInput) write(answer, words?.parts ?? []);
  if (state === 'TASK_STATE_FAILED') addNote(answer, `The agent failed: ${textOf(words?.parts ?? [])}`);
  return state !== 'TASK_STATE_WORKING' && state !== 'TASK_STATE_SUBMITTED';
}

async function stop() {
  const { taskId, abort } = running;
  abort.abort();
  try {
    if (taskId !== undefined) await cancelTask(taskId);
  } catch (error) {
    showError(error.message);
  }
}

async function setCredential(request) {
  credentialSwitch.disabled = true;
  try {
    const response = await fetch('/demo/credential', request);
    if (!response.ok) throw new Error(`status ${response.status}`);
    credentialSwitch.checked = (await response.json()).broken;
  } catch {
    showError('The site does not answer. Is it still running?');
  } finally {
    credentialSwitch.disabled = false;
  }
}

function addBubble(author, text) {
  const bubble = document.createElement('p');
  bubble.className = author;
  bubble.textContent = text;
  conversation.append(bubble);
  scrollToEnd();
  return bubble;
}

function write(bubble, parts) {
  const isReadingTheEnd = conversation.scrollHeight - conversation.scrollTop - conversation.clientHeight < 50;
  bubble.append(textOf(parts));
  if (isReadingTheEnd) scrollToEnd();
}

function addNote(bubble, text) {
  const note = document.createElement('em');
  note.textContent = text;
  bubble.append(note);
  scrollToEnd();
}

function scrollToEnd() {
  conversation.scrollTop = conversation.scrollHeight;
}

function textOf(parts) {
  return parts.map((part) => part.text ?? '').join('');
}

function showError(text) {
  errorRegion.textContent = text;
  // The region takes its room from the conversation, whose last line would go out of sight.
  scrollToEnd();
}

function updateControls() {
  const isIdle = running === null;
  sendButton.disabled = !isIdle || input.value.trim() === '';
  stopButton.disabled = isIdle;
  for (const button of document.querySelectorAll('#suggestions button')) button.disabled = !isIdle;
}

composer.addEventListener('submit', (event) => {
  event.preventDefault();
  const text = input.value.trim();
  if (running !== null || text === '') return;
  input.value = '';
  void send(text);
});

input.addEventListener('input', updateControls);
input.addEventListener('keydown', (event) => {
  // Enter also confirms a word in input methods for Chinese, Japanese and Korean: that one is not a "send".
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  composer.requestSubmit();
});

stopButton.addEventListener('click', () => void stop());

element('suggestions').addEventListener('click', ({ target }) => {
  if (running === null && target.dataset.message !== undefined) void send(target.dataset.message);
});

credentialSwitch.addEventListener('change', () => {
  void setCredential({
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ broken: credentialSwitch.checked }),
  });
});

void setCredential();
updateControls();
input.focus();
