/** Sentences that answer none of the questions in `nodes.ts`. The rules and thresholds were tuned on these. */
export const unrelatedTuning: ReadonlyArray<string> = `
yes minister is my favourite show
my dog is right outside the window
the weather is fine in Paris today
is yes the answer to everything
I was sure the train had left the station
he said the right honourable gentleman never calls
who is this
what company are you with
how did you get my number
the quick brown fox jumps over the lazy dog
my cousin said no to the job in Boston last summer
there was a correct answer on the exam yesterday
we had no rain at the lake for weeks
no one told me about this
my wife is not here right now
the weather is nice
what do you mean
I have a dog at home
we had fish and potatoes
who is speaking
somebody is at the door
can you hold on a second
the kids are making a lot of noise
I just came home from the supermarket
there is a truck in front of my house
are you a real company
I saw that on television last night
the line is really bad
my battery is almost empty
hang on I am getting in the car
where are you calling from
did my son put you up to this
I thought you were my sister
the washing machine is leaking again
we are having dinner
turn down the radio please
no smoking is allowed in this building
nothing works in this town anymore
the right side of the road was closed
all the best to your mother
I never watch football
never mind the cat
the okay corral is in Arizona
sure looks like rain to me
fine dining is overrated
he is a good friend of my brother
the cake was absolutely delicious
I know a guy who does that
you sound just like my teacher
it rained the whole weekend
the bus was late again
I need to feed the dog
my grandson plays the piano
the neighbours are painting their fence
I lost my glasses somewhere
the coffee is getting cold
wait my other phone is ringing
do you know what time it is
is this about the car
what is this about
who gave you this number
why are you calling me
how long will this take
what was your name again
I have no idea what you are talking about
my husband takes care of these things
she has been in hospital since the winter
the garden needs water
they cancelled the concert because of the storm
my flight was cancelled
the later train is always empty
I paid for the tickets with my card
the manager of the hotel was very kind
our agent sold the house in spring
I left a message for the plumber
the operator of the crane waved at us
we moved to the country last year
the bank closed early
I want a sandwich
I would like to see the ocean again
there are three apples on the table
my daughter is seven years old
we have two cats and a parrot
I was born on a farm
it is ten degrees below zero
the movie starts after dinner
my birthday was wonderful
the appointment with the dentist was horrible
on sunday we went to the zoo
last friday the lights went out
he works for the government
she sings in a choir
the computer is broken
I cannot find my keys
I do not like the taste of it
you can not imagine how hot it was
it is not a big house
not every bird can fly
we did not win the game
the doctor said I should rest
the children want ice cream
my boss wants the report
I can hear music in the background
I can see the mountains from here
I am standing in the kitchen
I am looking for my shoes
I am waiting for a parcel
I will paint the bedroom blue
I do the laundry in the evening
I think the milk is off
I guess the shop is open
that is a beautiful picture
that was a long time ago
that dog barks all night
this is my grandmother's recipe
this is a very old telephone
it works with batteries
speaking of which how is your father
of course the printer jammed again
certainly a strange sound
go to the left and then straight ahead
a go kart is faster than a bicycle
definitely the worst pizza in town
perfect pitch is very rare
exactly how many stars are there
the correct spelling has two letters
the wrong shoes hurt your feet
the price of gas is crazy
everybody is asleep
the mailman comes around noon
the stairs are slippery
we should have taken the highway
I forgot to lock the door
please close the window
the soup needs more salt
my knee hurts when I walk
the museum was full of people
tell your mother I said hello
he drives a red van
the roof has a hole in it
I am reading a book about ships
the paint is still wet
let us talk about the election
people are always in a hurry
someone else ate my lunch
the other day I met an old friend
the date on the letter is wrong
good evening everybody
merry christmas
I cut my finger
the phone company raised its prices
the baby is crying
there is no milk in the fridge
no news is good news
no parking on this side of the street
no man is an island
yesterday all my troubles seemed so far away
right after the war they built a bridge
okay computer is a great album
alright let me tell you a story about my uncle
well I used to live in Denver
um so the thing is the car broke down
oh look at that bird
hey stop pulling the cat's tail
what a mess
what on earth is that noise
where did I put the scissors
do you like jazz
have you ever been to Spain
can you swim
are you married
`
  .split("\n")
  .filter((line) => line !== "")
