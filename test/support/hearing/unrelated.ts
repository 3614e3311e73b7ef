/** Sentences that answer none of the questions in `nodes.ts`. */
import { listOf } from "./answers.ts"

/** The rules and thresholds were tuned on these. */
export const unrelatedTuning = listOf(`
  yes minister is my favourite show | my dog is right outside the window | the weather is fine in Paris today |
  is yes the answer to everything | I was sure the train had left the station | he said the right honourable gentleman never calls |
  who is this | what company are you with | how did you get my number | the quick brown fox jumps over the lazy dog |
  my cousin said no to the job in Boston last summer | there was a correct answer on the exam yesterday |
  we had no rain at the lake for weeks | no one told me about this | my wife is not here right now | the weather is nice |
  what do you mean | I have a dog at home | we had fish and potatoes | who is speaking | somebody is at the door |
  can you hold on a second | the kids are making a lot of noise | I just came home from the supermarket |
  there is a truck in front of my house | are you a real company | I saw that on television last night | the line is really bad |
  my battery is almost empty | hang on I am getting in the car | where are you calling from | did my son put you up to this |
  I thought you were my sister | the washing machine is leaking again | we are having dinner | turn down the radio please |
  no smoking is allowed in this building | nothing works in this town anymore | the right side of the road was closed |
  all the best to your mother | I never watch football | never mind the cat | the okay corral is in Arizona | sure looks like rain to me |
  fine dining is overrated | he is a good friend of my brother | the cake was absolutely delicious | I know a guy who does that |
  you sound just like my teacher | it rained the whole weekend | the bus was late again | I need to feed the dog |
  my grandson plays the piano | the neighbours are painting their fence | I lost my glasses somewhere | the coffee is getting cold |
  wait my other phone is ringing | do you know what time it is | is this about the car | what is this about | who gave you this number |
  why are you calling me | how long will this take | what was your name again | I have no idea what you are talking about |
  my husband takes care of these things | she has been in hospital since the winter | the garden needs water |
  they cancelled the concert because of the storm | my flight was cancelled | the later train is always empty |
  I paid for the tickets with my card | the manager of the hotel was very kind | our agent sold the house in spring |
  I left a message for the plumber | the operator of the crane waved at us | we moved to the country last year | the bank closed early |
  I want a sandwich | I would like to see the ocean again | there are three apples on the table | my daughter is seven years old |
  we have two cats and a parrot | I was born on a farm | it is ten degrees below zero | the movie starts after dinner |
  my birthday was wonderful | the appointment with the dentist was horrible | on sunday we went to the zoo |
  last friday the lights went out | he works for the government | she sings in a choir | the computer is broken | I cannot find my keys |
  I do not like the taste of it | you can not imagine how hot it was | it is not a big house | not every bird can fly |
  we did not win the game | the doctor said I should rest | the children want ice cream | my boss wants the report |
  I can hear music in the background | I can see the mountains from here | I am standing in the kitchen | I am looking for my shoes |
  I am waiting for a parcel | I will paint the bedroom blue | I do the laundry in the evening | I think the milk is off |
  I guess the shop is open | that is a beautiful picture | that was a long time ago | that dog barks all night |
  this is my grandmother's recipe | this is a very old telephone | it works with batteries | speaking of which how is your father |
  of course the printer jammed again | certainly a strange sound | go to the left and then straight ahead |
  a go kart is faster than a bicycle | definitely the worst pizza in town | perfect pitch is very rare | exactly how many stars are there |
  the correct spelling has two letters | the wrong shoes hurt your feet | the price of gas is crazy | everybody is asleep |
  the mailman comes around noon | the stairs are slippery | we should have taken the highway | I forgot to lock the door |
  please close the window | the soup needs more salt | my knee hurts when I walk | the museum was full of people |
  tell your mother I said hello | he drives a red van | the roof has a hole in it | I am reading a book about ships |
  the paint is still wet | let us talk about the election | people are always in a hurry | someone else ate my lunch |
  the other day I met an old friend | the date on the letter is wrong | good evening everybody | merry christmas | I cut my finger |
  the phone company raised its prices | the baby is crying | there is no milk in the fridge | no news is good news |
  no parking on this side of the street | no man is an island | yesterday all my troubles seemed so far away |
  right after the war they built a bridge | okay computer is a great album | alright let me tell you a story about my uncle |
  well I used to live in Denver | um so the thing is the car broke down | oh look at that bird | hey stop pulling the cat's tail |
  what a mess | what on earth is that noise | where did I put the scissors | do you like jazz | have you ever been to Spain | can you swim |
  are you married`)

/** Written after the rules were final. Results are reported on these. */
export const unrelatedHeldOut = listOf(`
  the lawn mower will not start | my neighbour bought a yellow motorcycle | I spilled coffee all over my shirt |
  there was an accident on the bridge this morning | who told you to ring this phone | what exactly is it that you sell |
  hold the line please I am at the cash desk | my mother would love that colour | the elevator is out of order again |
  we have been married for forty years | you people always ring at lunch | could you speak up a little | I am hard of hearing |
  the connection keeps breaking up | is that you Peter | is this a recording | do you work for the city | did you see the game last night |
  it was raining cats and dogs | she planted tomatoes behind the house | the train to Boston leaves from platform nine |
  our cat had five kittens | he broke his leg skiing | they are building a new school down the street |
  I cannot believe how expensive eggs are | I do not remember where I parked | I am just making a cup of tea |
  I will have to ask my brother about the tractor | I would have called the police | I can barely keep my eyes open |
  I did not sleep at all last night | yes men never get promoted in that firm | no trespassing says the sign on the gate |
  right angles are hard to draw | fine sand got into the camera | sure footed goats climb those rocks | correct me if the bread is burning |
  okay so my uncle bought a boat | well the roof started leaking in march | absolutely nobody came to the party |
  of course my sister forgot the cake | exactly the same thing happened to my father | certainly one of the oldest churches in the county |
  never in my life have I seen such a storm | definitely maybe was their first record | perfect timing the kettle is boiling |
  later that evening we watched the stars | another time we went by ship | the operator at the factory fell asleep |
  the agent showed us an apartment with a balcony | a representative of the union gave a speech | the person in front of me had no ticket |
  a manager must be patient | he paid for the whole table | the payment machine in the garage is broken | my appointment book is blue |
  they moved the statue to the park | we cancelled our newspaper | cancelling a hotel is always a hassle |
  the meeting room smells of paint | my driving licence has a terrible photo | the bus driver was very rude |
  I am at the hairdresser and she is cutting my hair | at work we have a new coffee machine | there is somebody else in the house |
  the wrong door was open | wrong side of bed this morning I suppose | the number of people on earth keeps growing |
  the number seven bus stops here | we need four new tyres | I ate two sandwiches for breakfast | she is turning sixty in the autumn |
  it costs a hundred dollars to fix | the shop opens at nine | the sun sets around half past eight | on monday the bins are emptied |
  tomorrow never dies is a film | today is a beautiful day | last tuesday my bicycle was stolen | the third of july was our wedding |
  every friday my father plays cards | december was terribly cold | may I ask what the weather is like there | one of the chairs is broken |
  nobody here speaks spanish | nothing rhymes with orange | none of the lights work | I doubt that it will snow |
  not a single bird in the sky | not all heroes wear capes | it is not my fault that the dog bit him | that is not how you spell it |
  you should not put metal in the microwave | do not touch the stove | do not forget your umbrella | stop pulling my hair | stop it kids |
  leave the dog alone | get off the sofa | remove the lid before heating | take the second street on the left |
  put the groceries on the table | give me the remote control | bring me a glass of water would you | turn the oven off |
  shut the door it is freezing | look who is here | guess what happened to me | listen to this song | come inside and sit down |
  go and wash your hands | wait until your father comes home | hang on the doorbell | just a second the pasta is boiling over |
  hello hello is anybody on the line | hello mister robot | good morning to you too | good grief | oh my goodness the baby fell | oh dear |
  um where was I | uh the thing with the car | hmm that reminds me of something | well well well | what a lovely voice you have |
  what a day it has been | what is the capital of France | what is for dinner | what are you wearing | where is the nearest hospital |
  where did you learn english | when does the museum open | when did the war end | why is the sky blue | why would anybody do that |
  how is the weather over there | how old are you | how many planets are there | how do I get to the airport | which team won the cup |
  whose umbrella is this | are you human or what are you | are we there yet | was that thunder | were you born here | does it hurt |
  do fish sleep | did dinosaurs have feathers | can dogs eat chocolate | could pigs fly they would be birds | will it ever stop raining |
  would anybody like more soup | have you met my cousin | has the mail come | is there a doctor in the house |
  the moon is very bright tonight | the river froze over in the winter | a stitch in time saves nine |
  an apple a day keeps the doctor away | the early bird catches the worm | all that glitters is not gold | time flies like an arrow |
  fruit flies like a banana | the rain in Spain stays mainly in the plain | peter piper picked a peck of pickled peppers |
  she sells sea shells by the sea shore | happy birthday to you | row row row your boat | twinkle twinkle little star |
  london bridge is falling down | to be or not to be that is the question | we shall fight on the beaches |
  ask not what your country can do for you | houston we have a problem | life is like a box of chocolates | my name is nobody |
  I used to be a plumber | I used to have a ten o'clock habit of walking | I prefer tea | I hate mondays | I love my garden |
  I miss my old job | I need new glasses | I want to learn the guitar | I wish it were summer | I hope the cake is ready |
  I heard a strange noise in the attic | I found a wallet on the street | I went to school with his brother | I bought the lamp in Chicago |
  I just got out of the shower | I was about to go for a walk | I have been to Canada twice | I have a terrible headache |
  I got stuck in traffic for three hours | we live near the station | we just came back from holiday | we are out of sugar |
  we saw a bear in the woods | you remind me of my aunt | you must be joking | you never know what the future brings |
  he said she said nothing | he fixes old radios | he was born in nineteen fifty | she teaches chemistry | she left the keys under the mat |
  she was right about the weather | they grow apples in the valley | they never answer their letters | it smells like burnt toast |
  it is a long story | it was the best soup ever | it could be worse | this chair is very comfortable | this town has two theatres |
  that car is too loud | that reminds me I must water the plants | these shoes are killing me | those were the days |
  the television is too loud can you hear it | the password is on the fridge | the recipe calls for eight eggs |
  the flight from Denver is delayed | the judge did not agree with him | the bride said I do | the sign says no entry |
  the answer was always no when I was a child | the patient is doing fine | the yes vote won the referendum |
  my doctor says everything is okay | my phone is at two percent | my granddaughter plays the violin | my car failed the inspection |
  my husband is asleep on the couch | somebody rang the bell twice | sorry the dog wants out | sorry about the noise |
  sorry I was talking to the cashier | please be quiet children | please pass the salt | thank you for the flowers aunt mary |
  thanks to the rain the garden is green`)
