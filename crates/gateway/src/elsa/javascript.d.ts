/** The value of a variable, by its name. */
declare function getVariable(name: string): any;
/** Sets a variable. One that is not declared is made in the nearest container. */
declare function setVariable(name: string, value: any): void;
/** The variables in scope. */
declare const variables: { [name: string]: any };
/** The value of an input of the workflow. */
declare function getInput(name: string): any;
/** An output of an activity, by the activity's id or name. */
declare function getOutputFrom(activity: string, output?: string): any;
/** The result of the last activity that had one. */
declare function getLastResult(): any;
declare function getWorkflowDefinitionId(): string;
declare function getWorkflowDefinitionVersionId(): string;
declare function getWorkflowDefinitionVersion(): number;
declare function getWorkflowInstanceId(): string;
declare function getCorrelationId(): string;
declare function setCorrelationId(id: string): void;
declare function getWorkflowInstanceName(): string;
declare function setWorkflowInstanceName(name: string): void;
/** Completes the activity RunJavaScript with this outcome. */
declare function setOutcome(name: string): void;
/** Completes the activity RunJavaScript with these outcomes. */
declare function setOutcomes(names: string[]): void;
declare function isNullOrEmpty(text: string): boolean;
declare function isNullOrWhiteSpace(text: string): boolean;
declare function toJson(value: any): string;
declare function newGuid(): string;
declare function newGuidString(): string;
declare function newShortGuid(): string;
declare function parseGuid(text: string): string;
declare function bytesFromString(text: string): Uint8Array;
declare function bytesToString(bytes: Uint8Array): string;
declare function bytesToBase64(bytes: Uint8Array): string;
declare function bytesFromBase64(text: string): Uint8Array;
declare function stringToBase64(text: string): string;
declare function stringFromBase64(text: string): string;
declare function streamToBytes(stream: Uint8Array | string): Uint8Array;
declare function streamToBase64(stream: Uint8Array | string): string;
declare function readStreamAsText(stream: Uint8Array | string): string;
